// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/files/inflate.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/data/files/libz.h"
#include "runtime/data/files/watched_file.h"

namespace mxc::data {
namespace {

using runtime::Bytes;
using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

constexpr size_t kPortion = 1 << 20;
constexpr int kGzipWindow = 15 + 16, kRawWindow = -15;

uInt Portion(size_t left) {
  return static_cast<uInt>(
      std::min<size_t>(left, std::numeric_limits<uInt>::max()));
}

Status Damaged(const z_stream& stream) {
  return Fail(StatusCode::kCorrupt, "the compressed data are damaged: %s",
              stream.msg != nullptr ? stream.msg : "they end early");
}

// Inflates until the stream ends; a gzip file may hold several.
Status InflateAll(const LibZ& libz, z_stream* stream, Bytes in, Deflated form,
                  uint64_t most, std::vector<std::byte>* out) {
  size_t taken = 0, made = 0;
  for (;;) {
    if (made == out->size()) {
      if (made > most) {
        return Fail(StatusCode::kCorrupt,
                    "the compressed data hold more than %llu bytes",
                    static_cast<unsigned long long>(most));
      }
      const size_t more = std::max(kPortion, made / 2);
      out->resize(made + std::min<uint64_t>(more, most - made + 1));
    }
    stream->next_in = reinterpret_cast<Bytef*>(
        const_cast<std::byte*>(in.data() + taken));  // zlib does not write
    stream->avail_in = Portion(in.size() - taken);
    stream->next_out = reinterpret_cast<Bytef*>(out->data() + made);
    stream->avail_out = Portion(out->size() - made);
    const uInt had_in = stream->avail_in, had_out = stream->avail_out;
    const int result = libz.inflate(stream, Z_NO_FLUSH);
    taken += had_in - stream->avail_in;
    made += had_out - stream->avail_out;
    if (result == Z_STREAM_END) {
      const bool another = form == Deflated::kGzip && taken < in.size() &&
                           in[taken] == std::byte{0x1f};
      if (!another) break;
      libz.inflateReset(stream);
    } else if (result != Z_OK &&
               !(result == Z_BUF_ERROR && stream->avail_out == 0)) {
      return Damaged(*stream);
    }
  }
  out->resize(made);
  if (made <= most) return {};
  return Fail(StatusCode::kCorrupt,
              "the compressed data hold more than %llu bytes",
              static_cast<unsigned long long>(most));
}

StatusOr<HeldBytes> ContentOf(const WatchedFile& file, const std::string& path,
                              uint64_t most) {
  constexpr size_t kFirstBytes = 4 << 10;
  const Bytes bytes = file.bytes();
  const Arriving& arriving = file.arriving();
  MXC_RT_RETURN_IF_ERROR(
      arriving.Await(bytes.first(std::min(bytes.size(), kFirstBytes))));
  const bool gzip = bytes.size() > 2 && bytes[0] == std::byte{0x1f} &&
                    bytes[1] == std::byte{0x8b};
  if (!gzip) return HeldBytes{file.owner(), bytes, arriving};
  MXC_RT_RETURN_IF_ERROR(arriving.Await(bytes));
  auto content = Inflate(bytes, Deflated::kGzip, most);
  MXC_RT_RETURN_IF_ERROR(CheckFiles());
  if (!content.ok()) {
    return Status(content.status().code(),
                  "'" + path + "': " + content.status().message());
  }
  const auto held =
      std::make_shared<const std::vector<std::byte>>(std::move(*content));
  return HeldBytes{held, *held};
}

}  // namespace

StatusOr<std::vector<std::byte>> Inflate(Bytes compressed, Deflated form,
                                         uint64_t most) {
  const StatusOr<const LibZ*> library = LibZ::Get();
  if (!library.ok()) return library.status();
  const LibZ& libz = **library;
  z_stream stream{};
  const int window = form == Deflated::kGzip ? kGzipWindow : kRawWindow;
  if (libz.inflateInit2_(&stream, window, ZLIB_VERSION, sizeof stream) !=
      Z_OK) {
    return Status(StatusCode::kOutOfMemory, "zlib finds no memory");
  }
  std::vector<std::byte> out;
  Status status = InflateAll(libz, &stream, compressed, form, most, &out);
  libz.inflateEnd(&stream);
  if (!status.ok()) return status;
  return out;
}

StatusOr<HeldBytes> ReadFile(const std::string& path, uint64_t most) {
  MXC_RT_ASSIGN(const WatchedFile file, WatchedFile::Open(path));
  return ContentOf(file, path, most);
}

StatusOr<HeldBytes> ReadFileInParts(const std::string& path, uint64_t most) {
  MXC_RT_ASSIGN(const WatchedFile file, WatchedFile::OpenInParts(path));
  return ContentOf(file, path, most);
}

}  // namespace mxc::data
