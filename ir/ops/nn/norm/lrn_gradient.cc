// SPDX-License-Identifier: Apache-2.0
// _lrn_gradient: the gradient of LRN's data.
//   head      f[N, C, H, W]   of LRN's output
//   data, tmp_norm            LRN's
//   gradient  head · norm^(−beta) − 2 · alpha · beta / nsize · data
//             · Σ head · data · norm^(−beta − 1) over the nsize channels around
// Attributes: LRN's.
#include "ir/ops/nn/norm/lrn.h"

namespace mxc {
namespace {

void LrnGradientTypes(const LrnAttrs&, TypeInference& t) {
  t.SetOut(0, t.In(0));
  t.SetOutDType(0, t.InDType(0));
}

void LrnGradientMeaning(const LrnAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const int64_t reach = a.nsize / 2;
  const Expr others = Definition::ReduceOver(
      ReduceOp::kSum, {Max(i[1] - reach, 0)},
      {Min(i[1] + (reach + 1), def.InShape(0)[1])},
      [&](const std::vector<Expr>& channel) {
        const std::vector<Expr> at = {i[0], channel[0], i[2], i[3]};
        return def.In(0, at) * def.In(1, at) *
               Pow(def.In(2, at), def.Lit(-a.beta - 1));
      });
  const double factor = 2 * a.alpha * a.beta / static_cast<double>(a.nsize);
  def.Set(0, def.In(0, i) * Pow(def.In(2, i), def.Lit(-a.beta)) -
                 def.Lit(factor) * def.In(1, i) * others);
}

}  // namespace

MXC_OP(LRNGradient) {
  return Op<LrnAttrs>("_lrn_gradient")
      .Internal()
      .Doc("the gradient of LRN")
      .Inputs({{"head"}, {"data"}, {"tmp_norm"}})
      .Outputs({"gradient"})
      .Types(LrnGradientTypes)
      .Meaning(LrnGradientMeaning);
}

}  // namespace mxc
