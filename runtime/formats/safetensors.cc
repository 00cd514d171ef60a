// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/safetensors.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "runtime/base/checksum.h"
#include "runtime/base/file_writer.h"
#include "runtime/base/visible.h"

namespace mxc::runtime {
namespace {

// Indexed by type flag.
constexpr std::array<std::string_view, 13> kNames = {
    "F32",  "F64", "F16", "U8",  "I32", "I8",  "I64",
    "BOOL", "I16", "U16", "U32", "U64", "BF16"};

}  // namespace

std::optional<ElementType> TypeOfSafetensors(std::string_view name) {
  const auto row = std::ranges::find(kNames, name);
  if (row == kNames.end()) return std::nullopt;
  return static_cast<ElementType>(row - kNames.begin());
}

std::string_view SafetensorsName(ElementType type) {
  return kNames[static_cast<size_t>(type)];
}

Status WriteSafetensors(const std::string& path,
                        std::span<const NamedArray> arrays) {
  return SaveSafetensors(path, arrays, FileWriter::Sync::kYes).status();
}

StatusOr<SafetensorsFile> SaveSafetensors(const std::string& path,
                                          std::span<const NamedArray> arrays,
                                          FileWriter::Sync sync) {
  std::set<std::string> names;
  std::string header = "{";
  uint64_t offset = 0;
  for (const auto& [name, array] : arrays) {
    if (!names.insert(name).second) {
      return Status(StatusCode::kInvalidArgument,
                    "safetensors: two arrays are called '" + name + "'");
    }
    std::string shape;
    for (const int64_t dim : array.shape) {
      shape += (shape.empty() ? "" : ",") + std::to_string(dim);
    }
    const uint64_t end = offset + array.bytes().size();
    header += (header.size() > 1 ? "," : "") + JsonQuoted(name) +
              ":{\"dtype\":\"" + std::string(SafetensorsName(array.type)) +
              "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
              std::to_string(offset) + "," + std::to_string(end) + "]}";
    offset = end;
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  FileWriter file(path);
  RunningChecksum checksum;
  file.Follow(&checksum);
  file.AppendScalar(static_cast<uint64_t>(header.size()));
  file.Append(header);
  for (const NamedArray& array : arrays) file.Append(array.array.bytes());
  MXC_RT_RETURN_IF_ERROR(file.Commit(sync));
  return SafetensorsFile{sizeof(uint64_t) + header.size(), checksum.value()};
}

}  // namespace mxc::runtime
