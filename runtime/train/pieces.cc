// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/pieces.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "runtime/base/element.h"
#include "runtime/base/remote_files.h"
#include "runtime/base/visible.h"
#include "runtime/formats/ndarray_list.h"
#include "runtime/formats/safetensors.h"
#include "runtime/train/checkpoint_files.h"
#include "runtime/train/sharded_parameters.h"

namespace mxc::train {
namespace {

using runtime::Array;
using runtime::NamedArray;
using Json = nlohmann::json;

constexpr const char* kFormat = "mxc-pieces 1";
constexpr size_t kMostIndex = 256 << 20;
constexpr size_t kMostRank = 32;

Status Damaged(const std::string& what) {
  return Status(StatusCode::kCorrupt, "damaged: " + what);
}

// Of an object, by name; null: it has none of that kind.
const Json* Find(const Json& object, const char* name, Json::value_t kind) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end() || found->type() != kind) {
    return nullptr;
  }
  return &*found;
}

std::optional<uint64_t> NumberOf(const Json& object, const char* name) {
  const Json* number = Find(object, name, Json::value_t::number_unsigned);
  return number == nullptr ? std::nullopt
                           : std::optional(number->get<uint64_t>());
}

StatusOr<PieceIndex::File> ReadFile(const Json& json) {
  const Json* name = Find(json, "name", Json::value_t::string);
  const Json* sum = Find(json, "xxh3", Json::value_t::string);
  if (name == nullptr || sum == nullptr ||
      !IsNeighbour(name->get<std::string>())) {
    return Damaged("a file needs a name beside the index and a checksum");
  }
  const auto text = sum->get<std::string>();
  if (text.size() != 16 ||
      text.find_first_not_of("0123456789abcdef") != text.npos) {
    return Damaged("a checksum is no 16 hexadecimal digits");
  }
  return PieceIndex::File{name->get<std::string>(),
                          std::strtoull(text.c_str(), nullptr, 16)};
}

// Pieces that fill an array of so many elements.
StatusOr<std::vector<ArrayPiece>> ReadArrayPieces(const Json& json,
                                                  uint64_t elements,
                                                  size_t files) {
  std::vector<ArrayPiece> pieces;
  uint64_t filled = 0;
  for (const Json& one : json) {
    const auto file = NumberOf(one, "file"), at = NumberOf(one, "at"),
               begin = NumberOf(one, "begin"), count = NumberOf(one, "count");
    if (!file || !at || !begin || !count || *file >= files ||
        *begin != filled || *count > elements - filled) {
      return Damaged("pieces do not lie one behind the other in its files");
    }
    pieces.push_back({static_cast<uint32_t>(*file), *at, *begin, *count});
    filled += *count;
  }
  if (filled != elements) return Damaged("pieces leave elements out");
  return pieces;
}

StatusOr<PiecedArray> ReadArray(const Json& json, size_t files) {
  const Json* name = Find(json, "name", Json::value_t::string);
  const Json* dtype = Find(json, "dtype", Json::value_t::string);
  const Json* shape = Find(json, "shape", Json::value_t::array);
  const Json* pieces = Find(json, "pieces", Json::value_t::array);
  if (name == nullptr || dtype == nullptr || shape == nullptr ||
      pieces == nullptr || shape->size() > kMostRank) {
    return Damaged("an array needs name, dtype, shape and pieces");
  }
  PiecedArray array;
  array.name = name->get<std::string>();
  const auto type = runtime::TypeOfSafetensors(dtype->get<std::string>());
  if (!type) return Damaged("an array's dtype is not known");
  array.type = *type;
  for (const Json& extent : *shape) {
    if (!extent.is_number_unsigned() || extent.get<uint64_t>() > INT64_MAX) {
      return Damaged("an array's shape has no extents");
    }
    array.shape.push_back(extent.get<int64_t>());
  }
  const auto bytes = runtime::ArrayBytes(array.type, array.shape);
  if (!bytes) return Damaged("an array's shape is huge");
  auto read = ReadArrayPieces(
      *pieces,
      static_cast<uint64_t>(*bytes) /
          static_cast<uint64_t>(runtime::ElementBytes(array.type)),
      files);
  if (!read.ok()) {
    return Status(
        read.status().code(),
        read.status().message() + " ('" + runtime::Visible(array.name) + "')");
  }
  array.pieces = std::move(*read);
  return array;
}

std::string Beside(const std::string& path, const std::string& name) {
  return path.substr(0, path.rfind('/') + 1) + name;
}

}  // namespace

StatusOr<PieceIndex> ParsePieceIndex(std::string_view text) {
  if (text.size() > kMostIndex) return Damaged("it is too long for an index");
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    return depth <= 5;
  };
  const Json json = Json::parse(text, shallow, /*allow_exceptions=*/false);
  const Json* format = Find(json, "format", Json::value_t::string);
  const Json* files = Find(json, "files", Json::value_t::array);
  const Json* arrays = Find(json, "arrays", Json::value_t::array);
  if (format == nullptr || *format != kFormat || files == nullptr ||
      arrays == nullptr) {
    return Damaged(std::string("expected an object with \"format\": \"") +
                   kFormat + "\", files and arrays");
  }
  PieceIndex index;
  for (const Json& one : *files) {
    MXC_RT_ASSIGN(auto file, ReadFile(one));
    index.files.push_back(std::move(file));
  }
  std::set<std::string> names;
  for (const Json& one : *arrays) {
    MXC_RT_ASSIGN(auto array, ReadArray(one, index.files.size()));
    if (!names.insert(array.name).second) {
      return Damaged("'" + runtime::Visible(array.name) + "' appears twice");
    }
    index.arrays.push_back(std::move(array));
  }
  return index;
}

std::string PieceExtension(uint32_t process) {
  return "piece-" + std::to_string(process) + ".safetensors";
}

Status WritePieceIndex(const std::string& path, const PieceIndex& index,
                       runtime::FileWriter::Sync sync) {
  nlohmann::ordered_json json = {{"format", kFormat}};
  auto& files = json["files"] = nlohmann::ordered_json::array();
  for (const PieceIndex::File& file : index.files) {
    files.push_back({{"name", file.name},
                     {"xxh3", Format("%016llx", static_cast<unsigned long long>(
                                                    file.checksum))}});
  }
  auto& arrays = json["arrays"] = nlohmann::ordered_json::array();
  for (const PiecedArray& array : index.arrays) {
    auto pieces = nlohmann::ordered_json::array();
    for (const ArrayPiece& piece : array.pieces) {
      pieces.push_back({{"file", piece.file},
                        {"at", piece.at},
                        {"begin", piece.begin},
                        {"count", piece.count}});
    }
    arrays.push_back({{"name", array.name},
                      {"dtype", runtime::SafetensorsName(array.type)},
                      {"shape", array.shape},
                      {"pieces", std::move(pieces)}});
  }
  runtime::FileWriter file(path);
  file.Append(json.dump(1, ' ', false,
                        nlohmann::ordered_json::error_handler_t::replace) +
              "\n");
  return file.Commit(sync);
}

StatusOr<PieceIndex> ReadPieceIndex(const std::string& path) {
  const auto file = runtime::MappedFile::Open(path);
  if (!file.ok()) return file.status();
  const auto bytes = file->bytes();
  auto index = ParsePieceIndex(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (index.ok()) return index;
  return Status(index.status().code(),
                path + " is " + index.status().message());
}

Status CheckPieces(const std::string& path) {
  MXC_RT_ASSIGN(const PieceIndex index, ReadPieceIndex(path));
  for (const PieceIndex::File& file : index.files) {
    const std::string beside = Beside(path, file.name);
    MXC_RT_ASSIGN(const uint64_t found, HashFile(beside));
    if (found == file.checksum) continue;
    return Fail(StatusCode::kCorrupt,
                "%s is damaged: it is not the one that was saved",
                beside.c_str());
  }
  return {};
}

StatusOr<OpenPieces> OpenPieces::Open(const std::string& path) {
  MXC_RT_ASSIGN(PieceIndex index, ReadPieceIndex(path));
  OpenPieces opened(std::move(index));
  for (const PieceIndex::File& file : opened.index_.files) {
    MXC_RT_ASSIGN(auto mapped,
                  runtime::MappedFile::Open(Beside(path, file.name)));
    opened.files_.push_back(std::move(mapped));
  }
  std::vector<uint64_t> used(opened.files_.size());  // bytes
  for (const PiecedArray& array : opened.arrays()) {
    const auto element =
        static_cast<uint64_t>(runtime::ElementBytes(array.type));
    for (const ArrayPiece& piece : array.pieces) {
      const PieceIndex::File& file = opened.index_.files[piece.file];
      const uint64_t size = opened.files_[piece.file].bytes().size();
      const uint64_t room = size - std::min(size, piece.at);
      // So arrays take no more memory than the files.
      const bool fits = piece.count <= room / element &&
                        piece.count * element <= size - used[piece.file];
      if (!fits) {
        return Fail(StatusCode::kCorrupt,
                    "%s is damaged: it has no such piece of '%s'",
                    Beside(path, file.name).c_str(),
                    runtime::Visible(array.name).c_str());
      }
      used[piece.file] += piece.count * element;
    }
  }
  return opened;
}

void OpenPieces::Copy(const PiecedArray& array, uint64_t begin,
                      std::span<std::byte> to) const {
  const uint64_t size =
      static_cast<uint64_t>(runtime::ElementBytes(array.type));
  const uint64_t end = begin + to.size();
  for (const ArrayPiece& piece : array.pieces) {
    const uint64_t first = std::max(begin, piece.begin * size);
    const uint64_t last = std::min(end, (piece.begin + piece.count) * size);
    if (first >= last) continue;
    const runtime::MappedFile& file = files_[piece.file];
    const auto from = file.bytes().subspan(
        piece.at + (first - piece.begin * size), last - first);
    std::ranges::copy(from, to.begin() + static_cast<ptrdiff_t>(first - begin));
    file.Forget(from);
  }
}

StatusOr<std::vector<NamedArray>> ReadPiecedParameters(
    const std::string& path) {
  MXC_RT_ASSIGN(const OpenPieces pieces, OpenPieces::Open(path));
  std::vector<NamedArray> arrays;
  for (const PiecedArray& pieced : pieces.arrays()) {
    if (!pieced.name.starts_with("arg:")) continue;
    MXC_RT_ASSIGN(Array array, Array::Allocate(pieced.type, pieced.shape));
    pieces.Copy(pieced, 0, array.bytes());
    arrays.push_back({pieced.name, std::move(array)});
  }
  const std::string rest =
      path.substr(0, path.size() - std::strlen(kPieces)) + "params";
  MXC_RT_ASSIGN(const bool exists, runtime::FileExists(rest));
  if (!exists) return arrays;
  MXC_RT_ASSIGN(auto others, runtime::ReadNdarrayList(rest));
  std::ranges::move(others, std::back_inserter(arrays));
  return arrays;
}

}  // namespace mxc::train
