// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/npz.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <vector>

#include "runtime/base/file_writer.h"
#include "runtime/base/visible.h"
#include "runtime/formats/npy.h"

namespace mxc::runtime {
namespace {

constexpr uint64_t kMaxBytes = 0xffffffff;
constexpr size_t kMaxMembers = 0xffff;
constexpr uint16_t kDate = 1 << 5 | 1;  // 1980-01-01, zip's first day
constexpr uint16_t kVersion = 20;

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
    }
    table[i] = value;
  }
  return table;
}();

uint32_t Crc(uint32_t crc, std::span<const std::byte> bytes) {
  for (const std::byte b : bytes) {
    crc = kCrcTable[(crc ^ static_cast<uint32_t>(b)) & 0xff] ^ crc >> 8;
  }
  return crc;
}

struct Member {
  std::string name, header;
  uint32_t crc = 0, size = 0, offset = 0;
};

// What is written for characters that may not stand in a member's name.
struct Escape {
  char meaning;
  std::string_view text;
};
constexpr std::array<Escape, 3> kEscapes = {
    {{'/', "%2F"}, {'\\', "%5C"}, {'%', "%25"}}};

// A name that stays one name wherever the archive is unpacked: no folder, no
// way out of one, nothing hidden.
std::string MemberName(const std::string& name) {
  std::string out;
  for (const char c : Visible(name)) {
    const auto escape = std::ranges::find(kEscapes, c, &Escape::meaning);
    if (escape == kEscapes.end()) {
      out += c;
    } else {
      out += escape->text;
    }
  }
  return out + ".npy";
}

// The fields that the local header and the directory have in common.
void AppendFields(FileWriter& file, const Member& member) {
  file.AppendScalar(kVersion);
  file.AppendScalar(uint16_t{0});  // flags
  file.AppendScalar(uint16_t{0});  // stored
  file.AppendScalar(uint16_t{0});  // time
  file.AppendScalar(kDate);
  file.AppendScalar(member.crc);
  file.AppendScalar(member.size);  // in the archive
  file.AppendScalar(member.size);
  file.AppendScalar(static_cast<uint16_t>(member.name.size()));
  file.AppendScalar(uint16_t{0});  // extra field
}

uint32_t LocalBytes(const Member& member) {
  return 30 + static_cast<uint32_t>(member.name.size()) + member.size;
}

StatusOr<std::vector<Member>> Layout(std::span<const NamedArray> arrays) {
  std::vector<Member> members;
  std::set<std::string> names;
  uint64_t total = 0;  // with the directory
  uint32_t offset = 0;
  for (const NamedArray& array : arrays) {
    auto header = NpyHeader(array.array);
    if (!header.ok()) return header.status();
    Member member{MemberName(array.name), *header};
    if (!names.insert(member.name).second) {
      return Status(StatusCode::kInvalidArgument,
                    "npz: two arrays are called '" + array.name + "'");
    }
    const uint64_t size = header->size() + array.array.bytes().size();
    total += 76 + 2 * member.name.size() + size;
    if (total > kMaxBytes || members.size() == kMaxMembers ||
        member.name.size() > 0xffff) {
      return Status(StatusCode::kUnsupported,
                    "npz: archives of 4 GiB or 65535 arrays are not written");
    }
    member.size = static_cast<uint32_t>(size);
    member.offset = offset;
    offset += LocalBytes(member);
    member.crc = ~Crc(Crc(~0u, std::as_bytes(std::span(member.header))),
                      array.array.bytes());
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace

std::string NameOfMember(std::string_view member) {
  if (member.ends_with(".npy")) member.remove_suffix(4);
  std::string name;
  while (!member.empty()) {
    const auto escape = std::ranges::find_if(
        kEscapes, [&](const Escape& e) { return member.starts_with(e.text); });
    const bool escaped = escape != kEscapes.end();
    name += escaped ? escape->meaning : member.front();
    member.remove_prefix(escaped ? escape->text.size() : 1);
  }
  return name;
}

Status WriteNpz(const std::string& path, std::span<const NamedArray> arrays) {
  const auto members = Layout(arrays);
  if (!members.ok()) return members.status();
  FileWriter file(path);
  uint32_t local = 0, directory = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Member& member = (*members)[i];
    file.AppendScalar(uint32_t{0x04034b50});
    AppendFields(file, member);
    file.Append(member.name);
    file.Append(member.header);
    file.Append(arrays[i].array.bytes());
    local += LocalBytes(member);
  }
  for (const Member& member : *members) {
    file.AppendScalar(uint32_t{0x02014b50});
    file.AppendScalar(kVersion);  // made by
    AppendFields(file, member);
    file.AppendScalar(uint16_t{0});  // comment
    file.AppendScalar(uint16_t{0});  // disk
    file.AppendScalar(uint16_t{0});  // internal attributes
    file.AppendScalar(uint32_t{0});  // external attributes
    file.AppendScalar(member.offset);
    file.Append(member.name);
    directory += 46 + static_cast<uint32_t>(member.name.size());
  }
  const auto count = static_cast<uint16_t>(members->size());
  file.AppendScalar(uint32_t{0x06054b50});
  file.AppendScalar(uint16_t{0});  // disk
  file.AppendScalar(uint16_t{0});  // disk of the directory
  file.AppendScalar(count);
  file.AppendScalar(count);
  file.AppendScalar(directory);
  file.AppendScalar(local);
  file.AppendScalar(uint16_t{0});  // comment
  return file.Commit();
}

}  // namespace mxc::runtime
