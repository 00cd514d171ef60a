// SPDX-License-Identifier: Apache-2.0
// _ctc_gradient: the gradient of CTCLoss's data.
//   data          f[T, N, C]
//   before, after f[T, N, S]   of _ctc_step after each step, forward, backward
//   cost, head    f[N]         the loss and its gradient
//   label         [N, L]
//   data_lengths  [N]          with use_data_lengths
//   gradient      f[T, N, C]   head · (softmax(data) − Σ exp(before + after +
//                 cost) over the symbols that are class c); 0 after the data's
//                 end
// Attributes: CTCLoss's.
#include "ir/ops/nn/loss/ctc.h"

namespace mxc {
namespace {

std::vector<InputSpec> CtcGradientInputs(const CtcAttrs& a) {
  std::vector<InputSpec> inputs = {{"data"}, {"before"}, {"after"},
                                   {"cost"}, {"head"},   {"label"}};
  if (a.use_data_lengths) inputs.push_back({"data_lengths"});
  return inputs;
}

void CtcGradientTypes(const CtcAttrs&, TypeInference& t) {
  t.SetOut(0, t.In(0));
  t.SetOutDType(0, t.InDType(0));
}

void CtcGradientMeaning(const CtcAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const CtcLabels labels = {a, def, 5, -1, def.InShape(0)[2]};
  const auto reduce = [&](ReduceOp op, auto f) {
    return def.ReduceAxes(op, 0, {2}, {i[0], i[1]}, f);
  };
  const Expr max = reduce(ReduceOp::kMax, [](Expr x) { return x; });
  const Expr sum = reduce(ReduceOp::kSum, [&](Expr x) { return Exp(x - max); });
  const Expr probability = Exp(def.In(0, i) - max) / sum;
  const Expr occupied =
      Definition::Sum({def.InShape(1)[2]}, [&](const std::vector<Expr>& s) {
        const std::vector<Expr> at = {i[0], i[1], s[0]};
        const Expr path = def.In(1, at) + def.In(2, at) + def.In(3, {i[1]});
        return Select(labels.Symbol(i[1], s[0]) == i[2],
                      Exp(Cast(path, def.OutDType())), def.Lit(0));
      });
  Expr value =
      Cast(def.In(4, {i[1]}), def.OutDType()) * (probability - occupied);
  if (a.use_data_lengths) {
    value =
        Select(i[0] < Cast(def.In(6, {i[1]}), DType::kI64), value, def.Lit(0));
  }
  def.Set(0, value);
}

}  // namespace

MXC_OP(CTCGradient) {
  return Op<CtcAttrs>("_ctc_gradient")
      .Internal()
      .Doc("the gradient of CTCLoss")
      .InputsOf(CtcGradientInputs)
      .Outputs({"gradient"})
      .Types(CtcGradientTypes)
      .Meaning(CtcGradientMeaning);
}

}  // namespace mxc
