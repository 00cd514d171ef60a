// SPDX-License-Identifier: Apache-2.0
// _ctc_cost: −log of the probability of all paths.
//   paths   f[N, S]   after the last step, of _ctc_step
//   last    f[N, S]   of _ctc_ends
//   output  f[N]      −log Σ exp(paths + last)
#include "ir/ops/nn/loss/ctc.h"

namespace mxc {
namespace {

void CtcCostTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  if (t.In(0).known()) t.SetOut(0, {t.In(0)[0]});
}

void CtcCostMeaning(const NoAttrs&, Definition& def) {
  const int64_t symbols = def.InShape(0)[1];
  const auto path = [&](const std::vector<Expr>& s) {
    return def.In(0, {Var(0), s[0]}) + def.In(1, {Var(0), s[0]});
  };
  const Expr max = Definition::MaxOf({symbols}, path);
  const Expr sum = Definition::Sum({symbols}, [&](const std::vector<Expr>& s) {
    return Exp(path(s) - max);
  });
  def.Set(0, -(max + Log(sum)));
}

}  // namespace

MXC_OP(CTCCost) {
  return Op<>("_ctc_cost")
      .Internal()
      .Doc("minus the log of the probability of all paths")
      .Inputs({{"paths"}, {"last"}})
      .Types(CtcCostTypes)
      .Meaning(CtcCostMeaning);
}

}  // namespace mxc
