// SPDX-License-Identifier: Apache-2.0
// _contrib_quantized_conv: Convolution of 8-bit numbers, as i32. See
// quantized_layer.h for inputs and outputs.
// Source: MXNet 1.9.1 operator/quantization/quantized_conv.cc. With oneDNN that
// adds bias as it is, and gives a range as if data were i8; here both are what
// its documentation, and FullyConnected beside it, have.
#include "ir/ops/nn/convolution/convolution_geometry.h"
#include "ir/ops/quantized/quantized_layer.h"

namespace mxc {

MXC_OP(QuantizedConv) {
  return IntegerLayer<ConvolutionAttrs>("_contrib_quantized_conv",
                                        "Convolution")
      .Doc("Convolution of 8-bit numbers")
      .Check(CheckGeometry);
}

}  // namespace mxc
