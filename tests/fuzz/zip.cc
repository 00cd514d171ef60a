// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/zip.h"

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

constexpr uint32_t kEnd = 0x06054b50, kRow = 0x02014b50, kLocal = 0x04034b50;
constexpr size_t kEndBytes = 22, kRowBytes = 46, kLocalBytes = 30;
constexpr uint64_t kMostInflated = 1 << 16;

uint32_t Crc(Bytes bytes) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<uint32_t>(crc32_z(0, data, bytes.size()));
}

// Where the directory begins.
std::optional<size_t> DirectoryOf(Bytes file) {
  if (file.size() < kEndBytes) return std::nullopt;
  for (size_t at = file.size() - kEndBytes + 1; at-- > 0;) {
    if (Load<uint32_t>(file, at) == kEnd) return Load<uint32_t>(file, at + 16);
  }
  return std::nullopt;
}

// The packed bytes of the member of a row.
std::optional<Bytes> PackedOf(Bytes file, size_t row) {
  const size_t local = Load<uint32_t>(file, row + 42);
  if (!runtime::Within(local, kLocalBytes, file.size())) return std::nullopt;
  const size_t names = Load<uint16_t>(file, local + 26) +
                       size_t{Load<uint16_t>(file, local + 28)};
  return runtime::Slice(file, local + kLocalBytes + names,
                        Load<uint32_t>(file, row + 20));
}

std::optional<uint32_t> CrcOf(Bytes file, size_t row) {
  const auto packed = PackedOf(file, row);
  if (!packed) return std::nullopt;
  if (Load<uint16_t>(file, row + 10) == 0) return Crc(*packed);
  const auto content =
      data::Inflate(*packed, data::Deflated::kRaw, kMostInflated);
  return content.ok() ? std::optional(Crc(*content)) : std::nullopt;
}

// What the directory and the header before a member have in common.
std::string Fields(const std::string& name, std::string_view content,
                   size_t packed) {
  const auto u16 = [](size_t v) { return Number(static_cast<uint16_t>(v)); };
  const auto u32 = [](size_t v) { return Number(static_cast<uint32_t>(v)); };
  return u16(20) + u16(0) + u16(8) + u32(0) + u32(Crc(BytesOf(content))) +
         u32(packed) + u32(content.size()) + u16(name.size()) + u16(0);
}

}  // namespace

std::string Deflated(std::string_view text, data::Deflated form) {
  z_stream stream{};
  const int window = form == data::Deflated::kGzip ? 15 + 16 : -15;
  deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string ZipOf(const std::string& name, std::string_view content) {
  const std::string packed = Deflated(content, data::Deflated::kRaw);
  const std::string fields = Fields(name, content, packed.size());
  std::string file = Number(kLocal) + fields + name + packed;
  const auto directory = static_cast<uint32_t>(file.size());
  const std::string row = Number(kRow) + Number(uint16_t{20}) + fields +
                          std::string(14, '\0') + name;
  const std::string places =
      Number(static_cast<uint32_t>(row.size())) + Number(directory);
  return file + row + Number(kEnd) + std::string(4, '\0') +
         Number(uint16_t{1}) + Number(uint16_t{1}) + places +
         Number(uint16_t{0});
}

void SealZip(std::span<std::byte> archive) {
  std::optional<size_t> row = DirectoryOf(archive);
  while (row && runtime::Within(*row, kRowBytes, archive.size()) &&
         Load<uint32_t>(archive, *row) == kRow) {
    if (const auto crc = CrcOf(archive, *row)) Store(archive, *row + 16, *crc);
    *row += kRowBytes + Load<uint16_t>(archive, *row + 28) +
            size_t{Load<uint16_t>(archive, *row + 30)} +
            Load<uint16_t>(archive, *row + 32);
  }
}

}  // namespace mxc::fuzz
