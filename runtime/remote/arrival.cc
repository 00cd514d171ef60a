// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/arrival.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "runtime/remote/cache.h"

namespace mxc::remote {
namespace {

using runtime::Descriptor;
using runtime::Fail;
using runtime::GatheredFile;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

Status Write(int file, const std::vector<std::byte>& bytes, uint64_t offset,
             const std::string& path) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = pwrite(file, bytes.data() + done, bytes.size() - done,
                                 static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return runtime::SystemError("write", path);
    done += static_cast<size_t>(count);
  }
  return {};
}

}  // namespace

StatusOr<std::shared_ptr<Arrival>> Arrival::Begin(
    Location location, std::vector<PlacedObject> objects, uint64_t piece_bytes,
    const std::string& path) {
  std::erase_if(objects, [](const PlacedObject& object) {
    return object.facts.bytes == 0;
  });
  const uint64_t bytes =
      objects.empty() ? 0 : objects.back().begin + objects.back().facts.bytes;
  MXC_RT_ASSIGN(GatheredFile file, GatheredFile::Create(path));
  // Room for all of it, before the first byte is asked for.
  const int error = bytes == 0 ? 0
                               : posix_fallocate(file.descriptor(), 0,
                                                 static_cast<off_t>(bytes));
  if (error != 0) {
    errno = error;
    return runtime::SystemError("write", path);
  }
  MXC_RT_ASSIGN(Descriptor readable, file.OpenToRead());
  return std::shared_ptr<Arrival>(
      new Arrival(std::move(location), std::move(objects), bytes, piece_bytes,
                  std::move(file), std::move(readable)));
}

Arrival::Arrival(Location location, std::vector<PlacedObject> objects,
                 uint64_t bytes, uint64_t piece_bytes, GatheredFile file,
                 Descriptor readable)
    : Fetchable((bytes + piece_bytes - 1) / piece_bytes, piece_bytes),
      location_(std::move(location)),
      objects_(std::move(objects)),
      bytes_(bytes),
      file_(std::move(file)),
      readable_(std::move(readable)) {}

Arrival::~Arrival() { fetcher_->Forget(*this); }

Span Arrival::SpanOf(uint64_t begin, uint64_t bytes) const {
  begin = std::min(begin, bytes_);
  const uint64_t end = begin + std::min(bytes, bytes_ - begin);
  if (end == begin) return {};
  return {begin / piece_bytes, (end + piece_bytes - 1) / piece_bytes};
}

Status Arrival::Await(uint64_t begin, uint64_t bytes) {
  if (complete_) return {};
  return fetcher_->Await(*this, SpanOf(begin, bytes));
}

uint64_t Arrival::WillAwait(uint64_t begin, uint64_t bytes) {
  if (complete_) return 0;
  return fetcher_->Want(*this, SpanOf(begin, bytes)) * piece_bytes;
}

const PlacedObject& Arrival::ObjectAt(uint64_t piece) const {
  const auto behind = std::ranges::upper_bound(objects_, piece * piece_bytes,
                                               {}, &PlacedObject::begin);
  return *(behind - 1);
}

Span Arrival::ObjectOf(uint64_t piece) const {
  const PlacedObject& object = ObjectAt(piece);
  return SpanOf(object.begin, object.facts.bytes);
}

Status Arrival::Fetch(Session& session, Span span,
                      const std::atomic<bool>& unwanted) {
  const PlacedObject& object = ObjectAt(span.first);
  const uint64_t begin = span.first * piece_bytes;
  const uint64_t offset = begin - object.begin;
  const uint64_t length =
      std::min(span.count() * piece_bytes, object.facts.bytes - offset);
  const Location location =
      object.key.empty() ? location_ : location_.Below(object.key);
  MXC_RT_ASSIGN(const auto bytes, ReadRange(session, location, object.facts,
                                            offset, length, unwanted));
  if (unwanted) return {};
  return Write(file_.descriptor(), bytes, begin, file_.path());
}

// WebHDFS does not say of what version a range is.
Status Arrival::Finish() {
  if (location_.kind == Location::Kind::kWebHdfs && objects_.size() == 1) {
    const PlacedObject& object = objects_[0];
    const Location location =
        object.key.empty() ? location_ : location_.Below(object.key);
    MXC_RT_ASSIGN(const ObjectFacts facts, AskAbout(location));
    if (facts.bytes != object.facts.bytes ||
        facts.version != object.facts.version) {
      return Fail(StatusCode::kIo, "'%s' has changed while it was read",
                  location.shown.c_str());
    }
  }
  // Others may have got their names since this one began.
  MXC_RT_RETURN_IF_ERROR(MakeRoom(location_.shown, bytes_));
  MXC_RT_RETURN_IF_ERROR(file_.Commit());
  complete_ = true;
  return {};
}

}  // namespace mxc::remote
