// SPDX-License-Identifier: Apache-2.0
// A network of floats → the same network of 8-bit numbers, in the form that
// MXNet 1.9.1 writes (quantize_model_mkldnn): `_contrib_quantize_v2`,
// `_sg_mkldnn_conv` and `_sg_mkldnn_fully_connected` with their nested graphs,
// `_contrib_quantized_pooling` …, `_contrib_dequantize`. Parameters stay as they
// are: whoever reads the form quantizes them, each filter by itself.
//
// Graphs that this makes are there to be written (WriteSymbol).
#pragma once

#include <compare>
#include <map>
#include <vector>

#include "ir/graph/graph.h"
#include "tools/quantize/fused_layer.h"
#include "tools/quantize/value_range.h"

namespace mxc {

// A value, in whatever draft of the same network.
struct TensorId {
  int node = 0, output = 0;

  explicit TensorId(Value value)
      : node(value.node->id()), output(value.index) {}
  auto operator<=>(const TensorId&) const = default;
};
using ValueRanges = std::map<TensorId, ValueRange>;

// The values whose ranges the functions below need, each once.
std::vector<Value> RangedValues(const std::vector<FusedLayer>& layers);

// Computes the layers of which `chosen` says so by 8-bit numbers, which stay such
// from one to the next, through poolings, concatenations and the like.
void QuantizeGraph(const std::vector<FusedLayer>& layers,
                   const std::vector<bool>& chosen, const ValueRanges& ranges,
                   Graph& graph);

// Adds two outputs for each layer: the sum of the squares of what 8-bit numbers
// make of it less its output, given its inputs as floats, and that of its output.
void AddErrorOutputs(const std::vector<FusedLayer>& layers,
                     const ValueRanges& ranges, Graph& graph);

}  // namespace mxc
