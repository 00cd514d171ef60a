// SPDX-License-Identifier: Apache-2.0
// The types of layers, rows of layers.def.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "frontend/caffe/layer.h"

namespace mxc::caffe {

struct LayerType {
  const char* name;
  // Sets the layer's tops; fails by Layer::Fail.
  void (*import)(Layer& layer);
};

// Null where nobody knows it.
const LayerType* FindLayerType(std::string_view name);
std::vector<std::string_view> LayerTypeNames();

// What gives tops from outside: they become inputs of the network.
bool IsSource(const LayerParameter& layer);
// The shapes of its tops as far as its settings say.
std::vector<Shape> ShapesOfSource(const LayerParameter& layer);

// Makes `value`, one number, a part of the objective by the weight that the
// layer gives to its top `i`, and that top.
void SetLoss(Layer& layer, int i, Value value);

#define MXC_CAFFE_LAYER(type, rule) void rule(Layer& layer);
#include "frontend/caffe/layers.def"
#undef MXC_CAFFE_LAYER

}  // namespace mxc::caffe
