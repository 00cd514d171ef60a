// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/files/npz.h"

#include <algorithm>
#include <optional>

#include "runtime/data/files/libz.h"
#include "runtime/data/files/watched_file.h"
#include "runtime/formats/byte_reader.h"

namespace mxc::data {
namespace {

using runtime::ByteReader;
using runtime::Bytes;
using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

constexpr uint32_t kEndMagic = 0x06054b50, kEntryMagic = 0x02014b50;
constexpr uint32_t kLocalMagic = 0x04034b50;
constexpr size_t kEndBytes = 22, kMostComment = 0xffff, kLocalBytes = 30;
constexpr uint32_t kIn64Bits = 0xffffffff;
constexpr uint16_t kStored = 0, kDeflate = 8, kZip64 = 1;
// Deflate's best, and room for a header.
constexpr uint64_t kMostRatio = 1032, kSmall = 1 << 10;

struct Entry {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
  uint64_t packed = 0, size = 0, local = 0;
};

Status Damaged(const char* what) {
  return Fail(StatusCode::kCorrupt, "the zip archive is damaged: %s", what);
}

template <class... T>
bool ReadAll(ByteReader& reader, T*... values) {
  return (reader.Read(values) && ...);
}

// The last place where the directory's end may stand.
std::optional<size_t> FindEnd(Bytes file) {
  if (file.size() < kEndBytes) return std::nullopt;
  const size_t last = file.size() - kEndBytes;
  const size_t first = last > kMostComment ? last - kMostComment : 0;
  for (size_t at = last + 1; at-- > first;) {
    uint32_t magic = 0;
    ByteReader(file.subspan(at)).Read(&magic);
    if (magic == kEndMagic) return at;
  }
  return std::nullopt;
}

// Numbers that do not fit 32 bits stand in an extra field, in this order.
bool ReadZip64(Bytes extra, Entry* entry) {
  ByteReader fields(extra);
  uint16_t id = 0, length = 0;
  Bytes content;
  while (ReadAll(fields, &id, &length) && fields.Take(length, &content)) {
    if (id != kZip64) continue;
    ByteReader numbers(content);
    for (uint64_t* value : {&entry->size, &entry->packed, &entry->local}) {
      if (*value == kIn64Bits && !numbers.Read(value)) return false;
    }
    return true;
  }
  return true;
}

bool ReadEntry(ByteReader& reader, Entry* entry) {
  uint32_t magic = 0, date = 0, external = 0, packed = 0, size = 0, local = 0;
  uint16_t made_by = 0, needs = 0, name_size = 0, extra_size = 0, comment = 0;
  uint16_t disk = 0, internal = 0;
  if (!ReadAll(reader, &magic, &made_by, &needs, &entry->flags, &entry->method,
               &date, &entry->crc, &packed, &size, &name_size, &extra_size,
               &comment, &disk, &internal, &external, &local) ||
      magic != kEntryMagic) {
    return false;
  }
  entry->packed = packed;
  entry->size = size;
  entry->local = local;
  Bytes name, extra, rest;
  if (!reader.Take(name_size, &name) || !reader.Take(extra_size, &extra) ||
      !reader.Take(comment, &rest)) {
    return false;
  }
  entry->name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  return ReadZip64(extra, entry);
}

StatusOr<std::vector<Entry>> ReadDirectory(Bytes file) {
  const auto end = FindEnd(file);
  if (!end) return Damaged("its directory is not there");
  ByteReader fields(file.subspan(*end));
  uint32_t magic = 0, size = 0, offset = 0;
  uint16_t disk = 0, first_disk = 0, here = 0, count = 0;
  if (!ReadAll(fields, &magic, &disk, &first_disk, &here, &count, &size,
               &offset) ||
      offset > *end) {
    return Damaged("its directory is not there");
  }
  ByteReader reader(file.subspan(offset));
  std::vector<Entry> entries;
  uint64_t packed = 0;
  for (int i = 0; i < count; ++i) {
    Entry entry;
    if (!ReadEntry(reader, &entry)) return Damaged("its directory ends early");
    // Members that share bytes would let a small file hold anything.
    if (entry.packed > file.size() - packed) {
      return Damaged("its members overlap");
    }
    packed += entry.packed;
    entries.push_back(std::move(entry));
  }
  return entries;
}

StatusOr<Bytes> PackedBytes(Bytes file, const Entry& entry) {
  const auto header = runtime::Slice(file, entry.local, kLocalBytes);
  if (!header) return Damaged("a member is not there");
  ByteReader reader(*header);
  uint32_t magic = 0;
  Bytes skipped;
  uint16_t name_size = 0, extra_size = 0;
  reader.Read(&magic);
  reader.Take(22, &skipped);
  ReadAll(reader, &name_size, &extra_size);
  if (magic != kLocalMagic) return Damaged("a member is not there");
  const auto content = runtime::Slice(
      file, entry.local + kLocalBytes + name_size + extra_size, entry.packed);
  if (!content) return Damaged("a member is cut short");
  return *content;
}

StatusOr<HeldBytes> Content(const HeldBytes& file, const Entry& entry) {
  const auto packed = PackedBytes(file.bytes, entry);
  if (!packed.ok()) return packed.status();
  if (entry.flags & 1) {
    return Fail(StatusCode::kUnsupported, "the zip archive is encrypted");
  }
  if (entry.method == kStored) return HeldBytes{file.owner, *packed};
  if (entry.method != kDeflate) {
    return Fail(StatusCode::kUnsupported,
                "zip's compression method %d is not supported", entry.method);
  }
  const uint64_t most =
      std::min(entry.size, kSmall + packed->size() * kMostRatio);
  auto content = Inflate(*packed, Deflated::kRaw, most);
  if (!content.ok()) return content.status();
  const auto held =
      std::make_shared<const std::vector<std::byte>>(std::move(*content));
  return HeldBytes{held, *held};
}

StatusOr<NpzMember> ReadMember(const HeldBytes& file, const Entry& entry) {
  auto content = Content(file, entry);
  if (!content.ok()) return content.status();
  const StatusOr<const LibZ*> libz = LibZ::Get();
  if (!libz.ok()) return libz.status();
  const Bytes bytes = content->bytes;
  const uLong crc = (*libz)->crc32_z(
      0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (crc != entry.crc) return Damaged("a member's checksum is wrong");
  auto array = runtime::ViewNpy(bytes);
  if (!array.ok()) return array.status();
  std::string name = entry.name;
  if (name.ends_with(".npy")) name.resize(name.size() - 4);
  return NpzMember{std::move(name), std::move(*array), content->owner};
}

}  // namespace

StatusOr<std::vector<NpzMember>> ParseNpz(const HeldBytes& file) {
  auto entries = ReadDirectory(file.bytes);
  if (!entries.ok()) return entries.status();
  std::vector<NpzMember> members;
  for (const Entry& entry : *entries) {
    auto member = ReadMember(file, entry);
    if (!member.ok()) {
      return Status(member.status().code(),
                    entry.name + ": " + member.status().message());
    }
    members.push_back(std::move(*member));
  }
  return members;
}

StatusOr<std::vector<NpzMember>> ReadNpz(const std::string& path) {
  const auto file = WatchedFile::Open(path);
  if (!file.ok()) return file.status();
  auto members = ParseNpz({file->owner(), file->bytes()});
  if (members.ok()) return members;
  return Status(members.status().code(),
                "'" + path + "': " + members.status().message());
}

}  // namespace mxc::data
