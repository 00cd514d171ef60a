// SPDX-License-Identifier: Apache-2.0
// Layers that 8-bit numbers compute, each with what follows it in the same step:
//
//   Convolution ─► BatchNorm ─► function ─┐
//                        summand ─► elemwise_add ─► function
//   FullyConnected ─► function
//
// where a function is relu, or clip from 0 on: what MXNet's `_sg_mkldnn_conv` and
// `_sg_mkldnn_fully_connected` are.
#pragma once

#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

struct FusedLayer {
  Node* layer = nullptr;
  // Null where there is none.
  Node *norm = nullptr, *function = nullptr, *add = nullptr,
       *add_function = nullptr;

  bool is_convolution() const { return layer->Is("Convolution"); }
  Value data() const { return layer->inputs[0]; }
  // Before the summand is added.
  Value own() const;
  // What is added; empty where nothing is.
  Value summand() const;
  Value output() const { return last()->out(); }
  Node* last() const;
  // In their order.
  std::vector<Node*> nodes() const;
};

bool IsRelu(const Node& node);

// In topological order of their outputs. Types must have been inferred as far as
// they follow; what is of no known type is of float32. A value that anybody else
// reads ends a layer.
std::vector<FusedLayer> FindFusedLayers(const Graph& graph);

}  // namespace mxc
