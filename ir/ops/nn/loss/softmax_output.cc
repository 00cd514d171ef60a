// SPDX-License-Identifier: Apache-2.0
// SoftmaxOutput: softmax whose gradient is that of the cross entropy with
// label.
//   data    f[N, K, d1 …]
//   label   f[N] for f[N, K]; else data's shape without the class axis, data's
//           shape itself (probabilities), or, with multi_output, (N, ∏ d) or
//           (N, 1, d1 …); not read by the forward pass
//   output  f[N, K, d1 …]   sums to 1 over all axes but the first; over axis 1
//           with multi_output; else over the last one with preserve_shape
// The gradient, whatever comes from above: _softmax_output_gradient; out_grad
// makes what comes from above a factor. MXNet 1.5 to 1.9 multiplies by the
// output instead, and so do networks that one of these has written.
// C1  data has at least 2 axes
// C2  label has one of the shapes above
// Source: MXNet 1.9.1 operator/softmax_output.cc.
#include "ir/ops/nn/loss/softmax_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ir/ops/nn/activation/softmax.h"
#include "ir/ops/nn/loss/loss.h"
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

Shape Without(const Shape& shape, int axis) {
  Extents dims = shape.dims();
  dims.erase(dims.begin() + axis);
  return dims;
}

// The shapes of labels that MXNet takes for `data`; the first one is inferred.
std::vector<Shape> LabelShapes(const SoftmaxOutputAttrs& a, const Shape& data) {
  if (!a.multi_output) return {Without(data, data.rank() - 1), data};
  const Extents spatial(data.dims().begin() + 2, data.dims().end());
  const int64_t positions = CheckedProduct(spatial).value_or(-1);
  Shape one = data;
  one[1] = 1;
  return {{data[0], positions}, Without(data, 1), one, data};
}

void SoftmaxOutputTypes(const SoftmaxOutputAttrs& a, TypeInference& t) {
  if (!LikeFirstInput(t)) return;
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  if (!t.Require(data.rank() >= 2, "C1: data has {} axes, expected at least 2",
                 data.rank()) ||
      !data.known()) {
    return;
  }
  const std::vector<Shape> shapes = LabelShapes(a, data);
  if (!t.In(1).known_rank()) return t.SetIn(1, shapes[0]);
  for (const Shape& shape : shapes) {
    if (shape == t.In(1)) return;
  }
  if (!t.In(1).known()) return t.SetIn(1, shapes[0]);
  t.Fail("C2: label has shape {}, expected {}", ToString(t.In(1)),
         ToString(shapes[0]));
}

// Returns whether the network comes from a version whose out_grad is broken.
bool MultipliesByOutput(int64_t mxnet_version) {
  return mxnet_version >= 10500 && mxnet_version < 20000;
}

std::vector<Value> SoftmaxOutputGradient(const SoftmaxOutputAttrs& a,
                                         GradientBuilder& g) {
  Value gradient =
      g.Op<op::SoftmaxOutputGradient>({g.Out(), g.In(1)}, a, "data");
  if (a.out_grad && MultipliesByOutput(g.mxnet_version())) {
    gradient = g.Mul(gradient, g.Out());
  } else if (a.out_grad && g.HasHead(0)) {
    gradient = g.Mul(gradient, g.Head());
  }
  return {gradient, Value()};
}

Value SoftmaxOutputLoss(const SoftmaxOutputAttrs& a, const Node& node,
                        GraphBuilder& b) {
  return b.Op<op::SoftmaxOutputLoss>({OutputOf(node), node.inputs[1]}, a,
                                     "loss");
}

// MXNet smooths one softmax for each sample or position, whose labels are
// classes.
AttrsPtr SmoothedSoftmaxOutput(const SoftmaxOutputAttrs& a, const Node& node,
                               double alpha) {
  const bool probabilities =
      node.inputs[0].type().shape == node.inputs[1].type().shape;
  if (a.multi_output || probabilities) return nullptr;
  SoftmaxOutputAttrs smoothed = a;
  smoothed.smooth_alpha = alpha;
  return std::make_shared<const SoftmaxOutputAttrs>(smoothed);
}

void SoftmaxOutputMeaning(const SoftmaxOutputAttrs& a, Definition& def) {
  const int rank = def.OutShape().rank();
  Extents axes(rank - 1);
  std::iota(axes.begin(), axes.end(), 1);
  if (a.preserve_shape) axes = {rank - 1};
  if (a.multi_output) axes = {1};
  def.Set(0, SoftmaxOver(def, axes));
}

}  // namespace

MXC_OP(SoftmaxOutput) {
  return Op<SoftmaxOutputAttrs>("SoftmaxOutput")
      .Doc("softmax, with the gradient of the cross entropy")
      .Alias({"Softmax"})
      .Inputs({{"data"}, {"label", InputKind::kLabel}})
      .Types(SoftmaxOutputTypes)
      .FloatsOnly()
      .Meaning(SoftmaxOutputMeaning)
      .Gradient(SoftmaxOutputGradient)
      .Loss(SoftmaxOutputLoss)
      .Smoothed(SmoothedSoftmaxOutput)
      .LossHead();
}

}  // namespace mxc
