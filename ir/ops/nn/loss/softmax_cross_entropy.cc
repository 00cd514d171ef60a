// SPDX-License-Identifier: Apache-2.0
// softmax_cross_entropy: −Σₙ log max(softmax(data[n])[label[n]], 1e-8). The
// gradient is that without the floor.
//   data    f[N, C]
//   label   f[N]; a label that is no class takes the nearest one
//   output  f[1]
// C1  data has 2 axes and label 1, of the same length
// Source: MXNet 1.9.1 operator/loss_binary_op.cc.
#include <cmath>

#include "ir/ops/nn/activation/softmax.h"
#include "ir/ops/nn/loss/loss.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/clip.h"
#include "ir/ops/tensor/indexing/one_hot.h"

namespace mxc {
namespace {

void SoftmaxCrossEntropyTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, {1});
  if (!t.In(0).known_rank()) return;
  if (!t.Require(t.In(0).rank() == 2, "C1: data has {} axes, expected 2",
                 t.In(0).rank())) {
    return;
  }
  if (t.In(1).known() && t.In(0).known(0)) {
    t.Require(t.In(1) == Shape{t.In(0)[0]},
              "C1: label has shape {}, expected ({},)", ToString(t.In(1)),
              t.In(0)[0]);
  }
  t.SetIn(1, {t.In(0)[0]});
}

void SoftmaxCrossEntropyMeaning(const NoAttrs&, Definition& def) {
  const int64_t batch = def.InShape(0)[0], classes = def.InShape(0)[1];
  def.Set(0, Definition::Sum({batch}, [&](const std::vector<Expr>& n) {
            const auto reduce = [&](ReduceOp op, auto f) {
              return def.ReduceAxes(op, 0, {1}, n, f);
            };
            const Expr max = reduce(ReduceOp::kMax, [](Expr x) { return x; });
            const Expr sum =
                reduce(ReduceOp::kSum, [&](Expr x) { return Exp(x - max); });
            const Expr label = Cast(def.In(1, n), DType::kI64);
            const Expr chosen =
                def.In(0, {n[0], Max(Min(label, classes - 1), 0)});
            return Min(Log(sum) - (chosen - max), Lit(-std::log(1e-8), max));
          }));
}

// dy · (softmax(data) − onehot(label))
std::vector<Value> SoftmaxCrossEntropyGradient(const NoAttrs&,
                                               GradientBuilder& g) {
  const Value data = g.In(0);
  const Value label = g.Op<op::Clip>(
      {g.In(1)},
      {.a_min = 0, .a_max = static_cast<double>(data.shape()[1] - 1)});
  const Value target = g.Op<op::OneHot>(
      {label}, {.depth = data.shape()[1], .dtype = data.type().dtype});
  const Value error = g.Sub(g.Op<op::Softmax>({data}), target);
  return {g.Mul(error, g.Reshape(g.Head(), {1, 1})), Value()};
}

}  // namespace

MXC_OP(SoftmaxCrossEntropy) {
  return Op<>("softmax_cross_entropy")
      .Doc("the sum of the cross entropies of a batch")
      .Inputs({{"data"}, {"label", InputKind::kLabel}})
      .Types(SoftmaxCrossEntropyTypes)
      .FloatsOnly()
      .Meaning(SoftmaxCrossEntropyMeaning)
      .Gradient(SoftmaxCrossEntropyGradient)
      .Loss([](const NoAttrs&, const Node& node, GraphBuilder& b) {
        return SumOfLosses(b, OutputOf(node), node.inputs[1].shape()[0]);
      });
}

}  // namespace mxc
