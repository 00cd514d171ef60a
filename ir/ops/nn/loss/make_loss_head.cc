// SPDX-License-Identifier: Apache-2.0
// MakeLoss: the identity, which makes its input a loss.
//   data    f[d1 …]
//   output  f[d1 …]
// The gradient, whatever arrives from above, is grad_scale / Z, where Z is 1
// (null), the rows along the last axis (batch), or the number of elements above
// valid_thresh, at least 1 (valid). The loss is the mean. Source: MXNet 1.9.1
// operator/make_loss-inl.h.
#include "ir/ops/nn/loss/make_loss_head.h"

#include <fmt/format.h>

#include "ir/ops/nn/loss/loss.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc {
namespace {

void MakeLossHeadTypes(const MakeLossHeadAttrs&, TypeInference& t) {
  t.AllSameShape();
  t.AllSameDType();
}

void MakeLossHeadMeaning(const MakeLossHeadAttrs&, Definition& def) {
  def.Set(0, def.In(0, def.Indices()));
}

// MXNet sees a vector as one row.
int64_t MakeLossRows(const Shape& data) {
  return data.elements() / data[data.rank() - 1];
}

std::vector<Value> MakeLossHeadGradient(const MakeLossHeadAttrs& a,
                                        GradientBuilder& g) {
  const Shape& data = g.In(0).shape();
  const Value ones = g.Ones(g.In(0).type());
  switch (a.normalization) {
    case LossNormalization::kNull:
      return {g.Mul(ones, a.grad_scale)};
    case LossNormalization::kBatch:
      return {
          g.Mul(ones, a.grad_scale / static_cast<double>(MakeLossRows(data)))};
    case LossNormalization::kValid:
      break;
  }
  const Value all = g.Reshape(g.In(0), {data.elements()});
  const Value valid =
      g.Sum(g.Op<op::GreaterScalar>({all}, {.scalar = a.valid_thresh}), {0});
  const Value counted = g.Reshape(
      g.Op<op::MaximumScalar>({valid}, {.scalar = 1}), Extents(data.rank(), 1));
  return {g.Div(g.Mul(ones, a.grad_scale), counted)};
}

}  // namespace

MXC_OP(MakeLossHead) {
  return Op<MakeLossHeadAttrs>("MakeLoss")
      .Doc("the identity, with a gradient of its own")
      .Types(MakeLossHeadTypes)
      .Meaning(MakeLossHeadMeaning)
      .Gradient(MakeLossHeadGradient)
      .Loss([](const MakeLossHeadAttrs&, const Node& node, GraphBuilder& b) {
        return MeanLoss(b, node.inputs[0]);
      })
      .LossHead();
}

}  // namespace mxc
