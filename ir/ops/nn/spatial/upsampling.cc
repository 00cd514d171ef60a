// SPDX-License-Identifier: Apache-2.0
// UpSampling: enlarges images by a whole factor.
//   nearest   arg0 … f[N, Ci, Hi, Wi]; each is repeated to the size of the
//             output, and they are concatenated along channels or added
//   bilinear  data f[N, C, H, W], weight f[C, 1, k, k]: a Deconvolution of each
//             channel with k = 2·scale − scale mod 2 at stride scale
//   output    f[N, Σ Ci or C0, H0·scale, W0·scale]
// C1  inputs have 4 axes, and all the same N
// C2  the output is a whole multiple of each input, the same along H and W
// C3  with multi_input_mode sum all inputs have the same channels
// Source: MXNet 1.9.1 operator/nn/upsampling.cc.
#include "ir/ops/nn/spatial/upsampling.h"

#include <fmt/format.h>

#include "ir/ops/nn/convolution/convolution_geometry.h"
#include "ir/ops/nn/convolution/deconvolution.h"
#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

std::vector<InputSpec> UpSamplingInputs(const UpSamplingAttrs& a) {
  if (a.bilinear()) return {{"data"}, {"weight", InputKind::kParameter}};
  std::vector<InputSpec> inputs;
  for (int64_t k = 0; k < a.num_args; ++k) {
    inputs.push_back({fmt::format("arg{}", k)});
  }
  return inputs;
}

// The factor from an input's extent to the output's.
int64_t FactorOf(int64_t input, int64_t output) {
  return input > 0 && output % input == 0 ? output / input : 0;
}

void NearestTypes(const UpSamplingAttrs& a, TypeInference& t) {
  const Shape& first = t.In(0);
  Shape output = {first[0], 0, first[2] * a.scale, first[3] * a.scale};
  for (int k = 0; k < t.inputs(); ++k) {
    const Shape& in = t.In(k);
    if (!t.Require(in[0] == first[0], "C1: input {} has {} images, expected {}",
                   k, in[0], first[0]) ||
        !t.Require(FactorOf(in[2], output[2]) > 0 &&
                       FactorOf(in[2], output[2]) == FactorOf(in[3], output[3]),
                   "C2: input {} has shape {}, which does not divide ({}, {})",
                   k, ToString(in), output[2], output[3])) {
      return;
    }
    if (a.multi_input_mode == MultiInputMode::kConcat) {
      output[1] += in[1];
      continue;
    }
    output[1] = first[1];
    if (!t.Require(in[1] == first[1],
                   "C3: input {} has {} channels, expected {}", k, in[1],
                   first[1])) {
      return;
    }
  }
  t.SetOut(0, output);
}

int64_t BilinearKernel(const UpSamplingAttrs& a) {
  return 2 * a.scale - a.scale % 2;
}

void UpSamplingTypes(const UpSamplingAttrs& a, TypeInference& t) {
  t.AllSameDType();
  const int images = a.bilinear() ? 1 : t.inputs();
  for (int k = 0; k < images; ++k) {
    if (!t.In(k).known()) return;
    if (!t.Require(t.In(k).rank() == 4, "C1: input {} has {} axes, expected 4",
                   k, t.In(k).rank())) {
      return;
    }
  }
  if (!a.bilinear()) return NearestTypes(a, t);
  const Shape& data = t.In(0);
  const int64_t kernel = BilinearKernel(a);
  t.SetIn(1, {data[1], 1, kernel, kernel});
  t.SetOut(0, {data[0], data[1], data[2] * a.scale, data[3] * a.scale});
}

// The geometry of the deconvolution that bilinear upsampling is.
ConvolutionGeometry BilinearGeometry(const UpSamplingAttrs& a,
                                     const Shape& data) {
  const int64_t kernel = BilinearKernel(a), pad = a.scale / 2;
  return {.kernel = {kernel, kernel},
          .stride = {a.scale, a.scale},
          .pad = {pad, pad},
          .num_filter = data[1],
          .num_group = data[1]};
}

std::vector<Value> UpSamplingByDeconvolution(const UpSamplingAttrs& a,
                                             const Node& node,
                                             GraphBuilder& b) {
  if (!a.bilinear()) return {};
  DeconvolutionAttrs attrs;
  static_cast<ConvolutionGeometry&>(attrs) =
      BilinearGeometry(a, node.inputs[0].shape());
  return {b.Op<op::Deconvolution>(node.inputs, attrs, "bilinear")};
}

std::vector<Value> UpSamplingGradient(const UpSamplingAttrs& a,
                                      GradientBuilder& g) {
  if (!a.bilinear()) return MeaningGradients(g);
  const ConvolutionGeometry geometry = BilinearGeometry(a, g.In(0).shape());
  std::vector<Value> gradients = g.None();
  if (g.Needs(0)) {
    gradients[0] = g.Op<op::Convolution>({g.Head(), g.In(1)},
                                         ConvolutionOf(geometry), "data");
  }
  if (g.Needs(1)) {
    gradients[1] = g.Op<op::ConvolutionBackwardWeight>({g.Head(), g.In(0)},
                                                       geometry, "weight");
  }
  return gradients;
}

void UpSamplingMeaning(const UpSamplingAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Shape& out = def.OutShape();
  int64_t channel = 0;
  Expr sum;
  for (int k = 0; k < def.inputs(); ++k) {
    const Shape& in = def.InShape(k);
    const Expr cell =
        def.In(k, {i[0], i[1] - channel, i[2] / FactorOf(in[2], out[2]),
                   i[3] / FactorOf(in[3], out[3])});
    if (a.multi_input_mode == MultiInputMode::kSum) {
      sum = sum ? sum + cell : cell;
      continue;
    }
    def.SetBox(0, {0, channel, 0, 0}, {out[0], in[1], out[2], out[3]}, cell);
    channel += in[1];
  }
  if (sum) def.Set(0, sum);
}

}  // namespace

MXC_OP(UpSampling) {
  return Op<UpSamplingAttrs>("UpSampling")
      .Doc("enlarges images by a whole factor")
      .InputsOf(UpSamplingInputs)
      .Variadic()
      .Types(UpSamplingTypes)
      .FloatsOnly()
      .Meaning(UpSamplingMeaning)
      .Decompose(UpSamplingByDeconvolution)
      .Gradient(UpSamplingGradient);
}

}  // namespace mxc
