// SPDX-License-Identifier: Apache-2.0
// Azure's blobs. Source: learn.microsoft.com/rest/api/storageservices (Put Blob, Put
// Block, Put Block List, List Blobs).
#include <cstdio>

#include "runtime/remote/store.h"

namespace mxc::remote {
namespace {

using runtime::Status;
using runtime::StatusOr;

constexpr uint64_t kMostBlocks = 50'000;

// Names of blocks are Base64 and of one length: eight digits are both.
std::string BlockName(size_t part) {
  char name[24];
  std::snprintf(name, sizeof name, "%08zu", part);
  return name;
}

std::string PageOfAzure(const Location& location, const std::string& prefix,
                        bool below, const std::string& marker) {
  std::string parameters = "comp=list&";
  if (!below) parameters += "delimiter=%2F&";
  if (!marker.empty()) {
    parameters += "marker=" + QueryEncoded(marker) + "&";
  }
  return location.UrlOf(
      "", parameters + "prefix=" + QueryEncoded(prefix) + "&restype=container");
}

constexpr Pages kPagesOfAzure = {&PageOfAzure,     "Blob", "Name",
                                 "Content-Length", "Etag", "NextMarker"};

class Azure final : public Store {
 public:
  Status Put(const Location& location, const Source& source) const override {
    if (source.bytes <= kPartBytes) {
      return PutWhole(
          location, source,
          {.url = location.url, .headers = {"x-ms-blob-type: BlockBlob"}});
    }
    MXC_RT_ASSIGN(
        const auto tags,
        PutParts(location, source, PartBytes(source.bytes, kMostBlocks),
                 [&](size_t part) {
                   return Question{
                       .url = location.UrlWith("blockid=" + BlockName(part) +
                                               "&comp=block")};
                 }));
    return PutBlockList(location, tags.size());
  }

  StatusOr<std::vector<std::string>> List(
      const Location& location) const override {
    return ListPages(location, kPagesOfAzure);
  }
  StatusOr<std::vector<runtime::ListedFile>> ListBelow(
      const Location& location) const override {
    return ListPagesBelow(location, kPagesOfAzure);
  }

 private:
  // Until then the blob is as it was; blocks that no list names are forgotten.
  static Status PutBlockList(const Location& location, size_t parts) {
    std::string text = "<BlockList>";
    for (size_t part = 0; part < parts; ++part) {
      text += "<Latest>" + BlockName(part) + "</Latest>";
    }
    text += "</BlockList>";
    MXC_RT_ASSIGN(const auto session, Session::Open());
    const uint64_t bytes = text.size();
    const Answer answer = session->AskPatiently(
        location, {.url = location.UrlWith("comp=blocklist"),
                   .method = "PUT",
                   .sent = {.bytes = bytes, .text = std::move(text)}});
    return answer.whole() ? Status() : Refusal(location, answer, "write");
  }
};

}  // namespace

const Store& AzureStore() {
  static const Azure store;
  return store;
}

}  // namespace mxc::remote
