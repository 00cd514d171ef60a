// SPDX-License-Identifier: Apache-2.0
// _contrib_quantized_conv: Convolution of 8-bit numbers, as i32. See
// quantized_layer.h for inputs and outputs.
// Source: MXNet 1.9.1 operator/quantization/quantized_conv.cc. With oneDNN that
// adds bias as it is, and gives a range as if data were i8; here both are what
// its documentation, and FullyConnected beside it, have.
#include "ir/ops/nn/convolution_geometry.h"
#include "ir/ops/quantized/quantized_layer.h"

namespace mxc {
namespace {

struct QuantizedConvAttrs : ConvolutionLayer {
  void Describe(Fields& f) {
    DescribeWindow(f);
    DescribeChannels(f);
    DescribeLayer(f);
  }
};

QuantizedLayerAttrs LayerOfConv(QuantizedConvAttrs a) {
  QuantizedLayerAttrs layer;
  layer.layer = "Convolution";
  layer.settings =
      PrintAttrLines(PrintAttrs([&](Fields& f) { a.Describe(f); }));
  layer.quantized_weight = layer.truncates_bias = true;
  return layer;
}

}  // namespace

MXC_OP(QuantizedConv) {
  return IntegerLayer<QuantizedConvAttrs>("_contrib_quantized_conv",
                                          LayerOfConv)
      .Doc("Convolution of 8-bit numbers")
      .Check(CheckGeometry);
}

}  // namespace mxc
