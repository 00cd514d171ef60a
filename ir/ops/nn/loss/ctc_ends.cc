// SPDX-License-Identifier: Apache-2.0
// _ctc_ends: where paths through an extended label begin and end.
//   label          [N, L]
//   label_lengths  [N]              with use_label_lengths
//   first, last    f32[N, 2·L + 1]  0 for the symbols that a path may begin
//                  before or end with, impossible for the others
// Attributes: CTCLoss's.
#include "ir/ops/nn/loss/ctc.h"

namespace mxc {
namespace {

std::vector<InputSpec> CtcEndsInputs(const CtcAttrs& a) {
  if (!a.use_label_lengths) return {{"label"}};
  return {{"label"}, {"label_lengths"}};
}

void CtcEndsTypes(const CtcAttrs&, TypeInference& t) {
  for (int k = 0; k < 2; ++k) {
    t.SetOutDType(k, DType::kF32);
    if (t.In(0).known()) t.SetOut(k, {t.In(0)[0], 2 * t.In(0)[1] + 1});
  }
}

void CtcEndsMeaning(const CtcAttrs& a, Definition& def) {
  const CtcLabels labels = {a, def, 0, a.use_label_lengths ? 1 : -1, 0};
  const std::vector<Expr> i = def.Indices();
  const auto where = [&](const Expr& condition) {
    return Select(condition, def.Lit(0), def.Lit(kCtcImpossible));
  };
  const Expr end = labels.Length(i[0]) * 2;
  def.Set(0, where(i[1] == 0));
  def.Set(1, where(i[1] == end || i[1] == end - 1));
}

}  // namespace

MXC_OP(CTCEnds) {
  return Op<CtcAttrs>("_ctc_ends")
      .Internal()
      .Doc("where paths through an extended label begin and end")
      .InputsOf(CtcEndsInputs)
      .Outputs({"first", "last"})
      .Types(CtcEndsTypes)
      .Meaning(CtcEndsMeaning);
}

}  // namespace mxc
