// SPDX-License-Identifier: Apache-2.0
#include "frontend/caffe/layers.h"

#include <algorithm>

namespace mxc::caffe {
namespace {

constexpr LayerType kTypes[] = {
#define MXC_CAFFE_LAYER(type, rule) {#type, rule},
#include "frontend/caffe/layers.def"
#undef MXC_CAFFE_LAYER
};

}  // namespace

const LayerType* FindLayerType(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kTypes, [&](const LayerType& type) { return name == type.name; });
  return found == std::end(kTypes) ? nullptr : found;
}

std::vector<std::string_view> LayerTypeNames() {
  std::vector<std::string_view> names;
  for (const LayerType& type : kTypes) names.emplace_back(type.name);
  return names;
}

}  // namespace mxc::caffe
