// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/sharded_parameters.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "runtime/base/file.h"
#include "runtime/base/visible.h"
#include "runtime/train/safetensors.h"

namespace mxc::train {
namespace {

using runtime::Fail;
using runtime::NamedArray;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;
using Json = nlohmann::json;

constexpr size_t kMostIndex = 64 << 20;

// The names of arrays by the file that has them.
using Shards = std::map<std::string, std::vector<std::string>>;

StatusOr<Shards> ParseIndex(std::string_view text) {
  if (text.size() > kMostIndex) {
    return Fail(StatusCode::kCorrupt, "an index of %zu bytes", text.size());
  }
  // What stands deeper than the names of files is dropped as it is read.
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    return depth <= 2;
  };
  const Json index = Json::parse(text, shallow, /*allow_exceptions=*/false);
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (!index.is_object() || map == index.end() || !map->is_object()) {
    return Fail(StatusCode::kCorrupt,
                "no index of safetensors: expected an object with "
                "\"weight_map\"");
  }
  Shards shards;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string() || !IsNeighbour(file.get<std::string>())) {
      return Fail(StatusCode::kCorrupt,
                  "the file of '%s' is %s, expected one beside the index",
                  runtime::Visible(name).c_str(),
                  runtime::Visible(file.dump(-1, ' ', /*ascii=*/true)).c_str());
    }
    shards[file.get<std::string>()].push_back(name);
  }
  return shards;
}

// Adds the arrays of one file.
Status AddShard(const std::string& path,
                const std::vector<std::string>& expected,
                std::set<std::string>& names, std::vector<NamedArray>& arrays) {
  const auto file = runtime::MappedFile::Open(path);
  if (!file.ok()) return file.status();
  auto added = ParseSafetensors(file->bytes());
  if (!added.ok()) {
    return Status(added.status().code(),
                  path + ": " + added.status().message());
  }
  std::set<std::string> own;
  for (NamedArray& array : *added) {
    if (!names.insert(array.name).second) {
      return Fail(StatusCode::kCorrupt, "%s: '%s' stands in another file, too",
                  path.c_str(), runtime::Visible(array.name).c_str());
    }
    own.insert(array.name);
    arrays.push_back(std::move(array));
  }
  for (const std::string& name : expected) {
    if (own.contains(name)) continue;
    return Fail(StatusCode::kCorrupt, "%s lacks '%s', which its index promises",
                path.c_str(), runtime::Visible(name).c_str());
  }
  return Status();
}

}  // namespace

bool IsNeighbour(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

StatusOr<std::vector<NamedArray>> ReadShards(const std::string& path) {
  const auto index = runtime::MappedFile::Open(path);
  if (!index.ok()) return index.status();
  const auto bytes = index->bytes();
  const auto shards =
      ParseIndex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!shards.ok()) {
    return Status(shards.status().code(),
                  path + ": " + shards.status().message());
  }
  const auto folder = std::filesystem::path(path).parent_path();
  std::vector<NamedArray> arrays;
  std::set<std::string> names;
  for (const auto& [file, expected] : *shards) {
    const Status added =
        AddShard((folder / file).string(), expected, names, arrays);
    if (!added.ok()) return added;
  }
  return arrays;
}

}  // namespace mxc::train
