// SPDX-License-Identifier: Apache-2.0
// Products with a matrix, and rows of one. Source: inner_product_layer.cpp,
// embed_layer.cpp of BVLC/caffe.
#include "frontend/caffe/layers.h"
#include "ir/ops/nn/convolution/fully_connected.h"
#include "ir/ops/nn/sequence/embedding.h"
#include "ir/ops/tensor/shape/transpose.h"

namespace mxc::caffe {

// The axes from `axis` on are one.
void ImportInnerProduct(Layer& layer) {
  layer.Expect(1, 1);
  const InnerProductParameter& p = OrDefault(layer.param().inner_product_param);
  if (p.num_output == 0) layer.Fail("no num_output");
  const int64_t outputs = p.num_output;
  Value x = layer.Bottom();
  const bool usual = p.axis == 1;
  int axis = 1;
  if (!usual) {
    axis = layer.Axis(p.axis, layer.RankOf(x));
    Extents codes(static_cast<size_t>(axis == 0 ? 1 : axis), 0);
    if (axis == 0) codes[0] = 1;
    codes.push_back(-1);
    x = layer.Reshape(x, codes);
  }
  int64_t inner = Shape::kUnknownDim;
  if (p.transpose) {
    const Extents& dims = layer.ShapeOf(x).dims();
    inner = Shape(Extents(dims.begin() + axis, dims.end())).elements();
  }
  Value weight = layer.Parameter(
      0, "weight", p.transpose ? Shape{inner, outputs} : Shape{outputs, inner},
      p.weight_filler);
  if (p.transpose) {
    weight = layer.Op<op::Transpose>({weight}, {.axes = {1, 0}});
  }
  std::vector<Value> inputs = {x, weight};
  if (p.bias_term) {
    inputs.push_back(layer.Parameter(1, "bias", Shape{outputs}, p.bias_filler));
  }
  Value y = layer.Op<op::FullyConnected>(
      inputs,
      {.num_hidden = outputs, .no_bias = !p.bias_term, .flatten = usual});
  if (axis == 0) y = layer.Reshape(y, {outputs});
  layer.SetTop(0, y);
}

void ImportEmbed(Layer& layer) {
  layer.Expect(1, 1);
  const EmbedParameter& p = OrDefault(layer.param().embed_param);
  const int64_t rows = p.input_dim, outputs = p.num_output;
  if (rows == 0 || outputs == 0) layer.Fail("no input_dim or no num_output");
  const Value weight =
      layer.Parameter(0, "weight", Shape{rows, outputs}, p.weight_filler);
  Value y = layer.Op<op::Embedding>({layer.Bottom(), weight},
                                    {.input_dim = rows, .output_dim = outputs});
  if (p.bias_term) {
    const Value bias =
        layer.Parameter(1, "bias", Shape{outputs}, p.bias_filler);
    y = layer.Op<op::BroadcastAdd>({y, bias});
  }
  layer.SetTop(0, y);
}

}  // namespace mxc::caffe
