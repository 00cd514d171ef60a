// SPDX-License-Identifier: Apache-2.0
// _contrib_quantized_fully_connected: data · weightᵀ + bias of 8-bit numbers, as
// i32. See quantized_layer.h for inputs and outputs.
// Source: MXNet 1.9.1 operator/quantization/quantized_fully_connected.cc.
#include "ir/ops/nn/convolution/fully_connected.h"
#include "ir/ops/quantized/quantized_layer.h"

namespace mxc {

MXC_OP(QuantizedFullyConnected) {
  return IntegerLayer<FullyConnectedAttrs>("_contrib_quantized_fully_connected",
                                           "FullyConnected")
      .Doc("FullyConnected of 8-bit numbers");
}

}  // namespace mxc
