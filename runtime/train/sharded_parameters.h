// SPDX-License-Identifier: Apache-2.0
// Parameters in several safetensors files beside an index of them:
//
//   model.safetensors.index.json
//   {"metadata": {"total_size": 548105171},
//    "weight_map": {"wte.weight": "model-00001-of-00002.safetensors", …}}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/formats/array.h"

namespace mxc::train {

inline constexpr std::string_view kShardIndex = ".safetensors.index.json";

// A name without a folder, so that an index reaches nothing but its neighbours.
bool IsNeighbour(const std::string& name);

// All arrays of the files that the index at `path` names, which lie beside it.
// Refuses an index that names a file elsewhere, or an array that its file lacks
// or two files have.
runtime::StatusOr<std::vector<runtime::NamedArray>> ReadShards(
    const std::string& path);

}  // namespace mxc::train
