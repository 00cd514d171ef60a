// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/read_parameters.h"

#include <cstring>
#include <filesystem>

#include "runtime/base/file.h"
#include "runtime/data/files/npz.h"
#include "runtime/formats/ndarray_list.h"
#include "runtime/formats/npz.h"
#include "runtime/train/pieces.h"
#include "runtime/train/safetensors.h"
#include "runtime/train/sharded_parameters.h"

namespace mxc::train {
namespace {

using runtime::Array;
using runtime::NamedArray;

StatusOr<std::vector<NamedArray>> ParseNpz(const runtime::MappedFile& file) {
  const auto members = data::ParseNpz({file.owner(), file.bytes()});
  if (!members.ok()) return members.status();
  std::vector<NamedArray> arrays;
  for (const data::NpzMember& member : *members) {
    const runtime::NpyView& view = member.array;
    auto array = Array::Allocate(view.type, view.shape);
    if (!array.ok()) return array.status();
    if (!view.elements.empty()) {
      std::memcpy(array->storage.get(), view.elements.data(),
                  view.elements.size());
    }
    arrays.push_back({runtime::NameOfMember(member.name), std::move(*array)});
  }
  return arrays;
}

}  // namespace

StatusOr<std::vector<NamedArray>> ReadParameters(const std::string& path) {
  if (path.ends_with(kShardIndex)) return ReadShards(path);
  if (path.ends_with(std::string(".") + kPieces)) {
    return ReadPiecedParameters(path);
  }
  const auto file = runtime::MappedFile::Open(path);
  if (!file.ok()) return file.status();
  auto arrays = path.ends_with(".npz") ? ParseNpz(*file)
                : path.ends_with(".safetensors")
                    ? ParseSafetensors(file->bytes())
                    : runtime::ParseNdarrayList(file->bytes());
  if (arrays.ok()) return arrays;
  for (const char* beside : {".mxc", ".states"}) {
    if (!path.ends_with(beside)) continue;
    return Status(StatusCode::kInvalidArgument,
                  path +
                      ": no parameters, but what lies beside them; they are "
                      "in the file that ends with .params");
  }
  return Status(arrays.status().code(),
                path + ": " + arrays.status().message());
}

StatusOr<runtime::UpdaterStates> ReadStates(const std::string& path) {
  auto states = runtime::ReadUpdaterStates(path);
  if (states.ok() || !ReadParameters(path).ok()) return states;
  const std::string beside =
      std::filesystem::path(path).replace_extension(".states").string();
  return Status(StatusCode::kInvalidArgument,
                path + " holds parameters; the optimizer's states are in " +
                    (beside == path ? "another file" : beside));
}

}  // namespace mxc::train
