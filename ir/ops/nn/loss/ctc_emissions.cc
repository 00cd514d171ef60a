// SPDX-License-Identifier: Apache-2.0
// _ctc_emissions: the log probability of each symbol of an extended label.
//   data           f[T, N, C]
//   label          [N, L]
//   label_lengths  [N]   with use_label_lengths
//   emissions      f[T, N, 2·L + 1]: log softmax(data) of the symbol,
//                  impossible after the label's end
// Attributes: CTCLoss's.
#include "ir/ops/nn/loss/ctc.h"

namespace mxc {
namespace {

std::vector<InputSpec> CtcEmissionsInputs(const CtcAttrs& a) {
  if (!a.use_label_lengths) return {{"data"}, {"label"}};
  return {{"data"}, {"label"}, {"label_lengths"}};
}

void CtcEmissionsTypes(const CtcAttrs&, TypeInference& t) {
  const Shape &data = t.In(0), &label = t.In(1);
  t.SetOutDType(0, t.InDType(0));
  if (!data.known() || !label.known()) return;
  t.SetOut(0, {data[0], data[1], 2 * label[1] + 1});
}

void CtcEmissionsMeaning(const CtcAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const CtcLabels labels = {a, def, 1, a.use_label_lengths ? 2 : -1,
                            def.InShape(0)[2]};
  const auto reduce = [&](ReduceOp op, auto f) {
    return def.ReduceAxes(op, 0, {2}, {i[0], i[1]}, f);
  };
  const Expr max = reduce(ReduceOp::kMax, [](Expr x) { return x; });
  const Expr sum = reduce(ReduceOp::kSum, [&](Expr x) { return Exp(x - max); });
  const Expr x = def.In(0, {i[0], i[1], labels.Symbol(i[1], i[2])});
  def.Set(0, Select(i[2] <= labels.Length(i[1]) * 2, x - max - Log(sum),
                    def.Lit(kCtcImpossible)));
}

}  // namespace

MXC_OP(CTCEmissions) {
  return Op<CtcAttrs>("_ctc_emissions")
      .Internal()
      .Doc("the log probability of each symbol of an extended label")
      .InputsOf(CtcEmissionsInputs)
      .Outputs({"emissions"})
      .Types(CtcEmissionsTypes)
      .Meaning(CtcEmissionsMeaning);
}

}  // namespace mxc
