// SPDX-License-Identifier: Apache-2.0
// SVMOutput: the identity, with the gradient of the hinge loss.
//   data    f[N, d1 … K]
//   label   f[N, d1 …]; not read by the forward pass
//   output  f[N, d1 … K]
// The loss of a row x with label k is Σ max(0, margin + s·x) (use_linear) or
// Σ max(0, margin + s·x)² times regularization_coefficient, where s is −1 at k
// and 1 elsewhere. The gradient is the loss's, whatever arrives from above; the
// reported loss is the mean over rows.
// C1  label has data's shape without the last axis
// Source: MXNet 1.9.1 operator/svm_output-inl.h.
#include "ir/ops/nn/loss/svm_output.h"

#include "ir/ops/nn/loss/loss.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/elementwise/unary.h"
#include "ir/ops/tensor/indexing/one_hot.h"

namespace mxc {
namespace {

void SvmOutputTypes(const SvmOutputAttrs&, TypeInference& t) {
  if (!LikeFirstInput(t)) return;
  if (!t.In(0).known_rank() || t.In(0).rank() == 0) return;
  Extents label = t.In(0).dims();
  label.pop_back();
  if (t.In(0).known() && t.In(1).known()) {
    t.Require(t.In(1) == Shape(label), "C1: label has shape {}, expected {}",
              ToString(t.In(1)), ToString(label));
  }
  t.SetIn(1, label);
}

void SvmOutputMeaning(const SvmOutputAttrs&, Definition& def) {
  def.Set(0, def.In(0, def.Indices()));
}

// s, of data's shape.
Value SvmSides(Value data, Value label, GraphBuilder& b) {
  const int64_t classes = data.shape()[data.shape().rank() - 1];
  return b.Op<op::OneHot>({label},
                          {.depth = classes,
                           .on_value = -1,
                           .off_value = 1,
                           .dtype = data.type().dtype},
                          "sides");
}

// margin + s·x
Value SvmReach(const SvmOutputAttrs& a, Value data, Value sides,
               GraphBuilder& b) {
  return b.Add(b.Mul(sides, data), a.margin);
}

std::vector<Value> SvmOutputGradient(const SvmOutputAttrs& a,
                                     GradientBuilder& g) {
  const Value sides = SvmSides(g.In(0), g.In(1), g);
  const Value reach = SvmReach(a, g.In(0), sides, g);
  const Value slope = a.use_linear
                          ? g.Op<op::GreaterScalar>({reach}, {.scalar = 0})
                          : g.Mul(g.Op<op::Relu>({reach}), 2);
  return {g.Mul(g.Mul(sides, slope), a.regularization_coefficient), Value()};
}

Value SvmOutputLoss(const SvmOutputAttrs& a, const Node& node,
                    GraphBuilder& b) {
  const Value data = node.inputs[0];
  const Value reach = SvmReach(a, data, SvmSides(data, node.inputs[1], b), b);
  Value terms = b.Op<op::Relu>({reach});
  if (!a.use_linear) terms = b.Square(terms);
  return SumOfLosses(b, b.Mul(terms, a.regularization_coefficient),
                     node.inputs[1].shape().elements());
}

}  // namespace

MXC_OP(SVMOutput) {
  return Op<SvmOutputAttrs>("SVMOutput")
      .Doc("the identity, with the gradient of the hinge loss")
      .Inputs({{"data"}, {"label", InputKind::kLabel}})
      .Types(SvmOutputTypes)
      .FloatsOnly()
      .Meaning(SvmOutputMeaning)
      .Gradient(SvmOutputGradient)
      .Loss(SvmOutputLoss)
      .LossHead();
}

}  // namespace mxc
