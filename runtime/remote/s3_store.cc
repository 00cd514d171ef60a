// SPDX-License-Identifier: Apache-2.0
// Amazon's S3 and what speaks as it does. Source:
// docs.aws.amazon.com/AmazonS3/latest/API (PutObject, CreateMultipartUpload,
// UploadPart, CompleteMultipartUpload, AbortMultipartUpload, ListObjectsV2).
#include <utility>

#include "runtime/remote/object.h"
#include "runtime/remote/store.h"

namespace mxc::remote {
namespace {

using runtime::Status;
using runtime::StatusOr;

constexpr uint64_t kMostPartsOfS3 = 10'000;

// Parts that become the object when all are there. The destructor takes back what
// did not.
class MultipartUpload {
 public:
  static StatusOr<MultipartUpload> Begin(const Location& location);
  MultipartUpload(MultipartUpload&& from) noexcept
      : location_(from.location_), id_(std::exchange(from.id_, {})) {}
  ~MultipartUpload();

  Question PartOf(size_t part) const {
    return {.url = location_.UrlWith("partNumber=" + std::to_string(part + 1) +
                                     "&uploadId=" + id_)};
  }
  Status Complete(const Source& source, const std::vector<std::string>& tags);

 private:
  MultipartUpload(const Location& location, std::string id)
      : location_(location), id_(std::move(id)) {}
  bool IsDone(const Source& source, size_t parts) const;

  const Location& location_;
  std::string id_;  // encoded; empty: it is over
};

StatusOr<MultipartUpload> MultipartUpload::Begin(const Location& location) {
  MXC_RT_ASSIGN(const auto session, Session::Open());
  const Answer answer = session->AskPatiently(
      location, {.url = location.UrlWith("uploads="), .method = "POST"});
  size_t at = 0;
  const auto id = NextElement(TextOf(answer), "UploadId", at);
  if (!answer.whole() || !id) return Refusal(location, answer, "write");
  return MultipartUpload(location, QueryEncoded(*id));
}

MultipartUpload::~MultipartUpload() {
  if (id_.empty()) return;
  const auto session = Session::Open();
  if (!session.ok()) return;
  (void)(*session)->AskPatiently(
      location_,
      {.url = location_.UrlWith("uploadId=" + id_), .method = "DELETE"});
}

// The answer to who completed it may have been lost: the upload is gone then, and
// the object has its size and so many parts.
bool MultipartUpload::IsDone(const Source& source, size_t parts) const {
  const auto facts = AskAbout(location_);
  return facts.ok() && facts->bytes == source.bytes &&
         facts->version.ends_with("-" + std::to_string(parts) + "\"");
}

// S3 may begin with "200 OK" and say later, in the body, that it failed.
Status MultipartUpload::Complete(const Source& source,
                                 const std::vector<std::string>& tags) {
  std::string text = "<CompleteMultipartUpload>";
  for (size_t i = 0; i < tags.size(); ++i) {
    text += "<Part><PartNumber>" + std::to_string(i + 1) +
            "</PartNumber><ETag>" + tags[i] + "</ETag></Part>";
  }
  text += "</CompleteMultipartUpload>";
  const uint64_t bytes = text.size();
  MXC_RT_ASSIGN(const auto session, Session::Open());
  const Answer answer = session->AskPatiently(
      location_, {.url = location_.UrlWith("uploadId=" + id_),
                  .method = "POST",
                  .sent = {.bytes = bytes, .text = std::move(text)}});
  const bool refused = TextOf(answer).find("<Error>") != std::string_view::npos;
  const bool complete = answer.whole() && !refused;
  if (!complete && !(answer.status == 404 && IsDone(source, tags.size()))) {
    return Refusal(location_, answer, "write");
  }
  id_.clear();
  return {};
}

std::string PageOfS3(const Location& location, const std::string& prefix,
                     bool below, const std::string& marker) {
  std::string parameters;
  if (!marker.empty()) {
    parameters += "continuation-token=" + QueryEncoded(marker) + "&";
  }
  if (!below) parameters += "delimiter=%2F&";
  return location.UrlOf(
      "", parameters +
              "encoding-type=url&list-type=2&prefix=" + QueryEncoded(prefix));
}

constexpr Pages kPagesOfS3 = {&PageOfS3, "Contents", "Key",
                              "Size",    "ETag",     "NextContinuationToken"};

class S3 final : public Store {
 public:
  Status Put(const Location& location, const Source& source) const override {
    if (source.bytes <= kPartBytes) {
      return PutWhole(location, source, {.url = location.url});
    }
    MXC_RT_ASSIGN(MultipartUpload upload, MultipartUpload::Begin(location));
    MXC_RT_ASSIGN(
        const auto tags,
        PutParts(location, source, PartBytes(source.bytes, kMostPartsOfS3),
                 [&](size_t part) { return upload.PartOf(part); }));
    return upload.Complete(source, tags);
  }

  StatusOr<std::vector<std::string>> List(
      const Location& location) const override {
    return ListPages(location, kPagesOfS3);
  }
  StatusOr<std::vector<runtime::ListedFile>> ListBelow(
      const Location& location) const override {
    return ListPagesBelow(location, kPagesOfS3);
  }
};

}  // namespace

const Store& S3Store() {
  static const S3 store;
  return store;
}

}  // namespace mxc::remote
