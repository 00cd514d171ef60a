// SPDX-License-Identifier: Apache-2.0
// _contrib_quantized_fully_connected: data · weightᵀ + bias of 8-bit numbers, as
// i32. See quantized_layer.h for inputs and outputs.
// Source: MXNet 1.9.1 operator/quantization/quantized_fully_connected.cc.
#include "ir/ops/nn/fully_connected.h"
#include "ir/ops/quantized/quantized_layer.h"

namespace mxc {
namespace {

QuantizedLayerAttrs LayerOfProduct(FullyConnectedAttrs a) {
  QuantizedLayerAttrs layer;
  layer.layer = "FullyConnected";
  layer.settings =
      PrintAttrLines(PrintAttrs([&](Fields& f) { a.Describe(f); }));
  layer.quantized_weight = layer.truncates_bias = true;
  return layer;
}

}  // namespace

MXC_OP(QuantizedFullyConnected) {
  return IntegerLayer<FullyConnectedAttrs>("_contrib_quantized_fully_connected",
                                           LayerOfProduct)
      .Doc("FullyConnected of 8-bit numbers");
}

}  // namespace mxc
