// SPDX-License-Identifier: Apache-2.0
// A Convolution or FullyConnected of 8-bit numbers, as MXNet runs it by oneDNN:
//   data     q[…]                    i8 or u8
//   weight   f32[…], or i8[…] with quantized_weight
//   bias     f32[C], or i8 or i32    if the layer has one
//   gamma, beta, moving_mean, moving_var  f32[C]     with_norm
//   sum      q[…], of the output's shape             with_sum
//   min_data, max_data  f32[1]
//   min_weight, max_weight, and of a bias min_bias, max_bias   quantized_weight
//   min_sum, max_sum    f32[1]                       with_sum
//   outputs  y[…], min f32[1], max f32[1]
// Of f32 weights those that a BatchNorm by the moving statistics leaves are
// quantized as i8: each filter by the greatest magnitude in it, or all by one
// where the output is i32. y is sum_activation(activation(layer) + sum):
//   calibrated     u8 if it is `positive`, else i8, for the calibrated range
//   float_output   f32, the only output
//   else           i32, the sums of products as they are; min and max say what
//                  2^31 - 1 of them stand for
// A calibrated sum is limited to what the type of `sum` holds, whose bytes it
// takes: of a u8 output for an i8 summand the levels end at 127, and those of an
// i8 output for a u8 summand begin at 0 and wrap around beyond 127.
// The sums are exact within i32, and wrap around beyond.
// C1  data and sum are i8 or u8
// Source: MXNet 1.9.1 operator/subgraph/mkldnn/mkldnn_conv.cc, mkldnn_fc.cc,
// mkldnn_common.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ops/quantized/quantization.h"

namespace mxc {

struct QuantizedLayerAttrs {
  std::string layer;     // the operator
  std::string settings;  // its attributes, in lines
  bool with_norm = false;
  bool fix_gamma = true;
  double eps = 1e-3;
  bool with_sum = false;
  std::string activation, activation_settings;  // no name: none
  std::string sum_activation, sum_activation_settings;
  bool positive = false;
  std::optional<double> min_calib_range, max_calib_range;
  bool float_output = false;
  bool quantized_weight = false;
  bool truncates_bias = false;  // to whole numbers; else to the nearest ones

  void Describe(Fields& f);
  AttrsPtr LayerAttrs() const;
  bool calibrated() const { return min_calib_range && max_calib_range; }
  bool has_bias() const;
  std::vector<InputSpec> Inputs() const;
};

// Returns whether a function that is fused with a layer has no negative values.
bool HasNoNegatives(const Node& function);

void QuantizedLayerTypes(const QuantizedLayerAttrs& a, TypeInference& t);
std::vector<Value> QuantizedLayerParts(const QuantizedLayerAttrs& a,
                                       const Node& node, GraphBuilder& b);

// The operator `layer`, whose attributes are an A, with i8 weights and an output
// of i32.
template <class A>
Op<A> IntegerLayer(std::string name, std::string layer) {
  const auto layer_of = [layer](A a) {
    QuantizedLayerAttrs attrs;
    attrs.layer = layer;
    attrs.settings =
        PrintAttrLines(PrintAttrs([&](Fields& f) { a.Describe(f); }));
    attrs.quantized_weight = attrs.truncates_bias = true;
    return attrs;
  };
  return Op<A>(std::move(name))
      .InputsOf([=](const A& a) { return layer_of(a).Inputs(); })
      .MultipliesIntegers()
      .Outputs(kRangedOutputs)
      .Types([=](const A& a, TypeInference& t) {
        QuantizedLayerTypes(layer_of(a), t);
      })
      .Decompose([=](const A& a, const Node& node, GraphBuilder& b) {
        return QuantizedLayerParts(layer_of(a), node, b);
      })
      .ZeroGradient();
}

}  // namespace mxc
