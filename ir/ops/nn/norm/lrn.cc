// SPDX-License-Identifier: Apache-2.0
// LRN: divides by the energy of the neighbouring channels.
//   data      f[N, C, H, W]
//   output    x · norm^(−beta)
//   tmp_norm  knorm + alpha / nsize · Σ x² over the nsize channels around this
//             one, as far as there are any; hidden
// The gradient: _lrn_gradient.
// C1  nsize is odd
// C2  data has 4 axes
// Source: MXNet 1.9.1 operator/lrn.cc.
#include "ir/ops/nn/norm/lrn.h"

#include <fmt/format.h>

namespace mxc {
namespace {

std::optional<std::string> LrnCheck(const LrnAttrs& a) {
  if (a.nsize % 2 == 1) return std::nullopt;
  return fmt::format("C1: nsize is {}, expected an odd number", a.nsize);
}

void LrnTypes(const LrnAttrs&, TypeInference& t) {
  t.AllSameShape();
  t.AllSameDType();
  t.Require(!t.In(0).known_rank() || t.In(0).rank() == 4,
            "C2: data has {} axes, expected 4",
            t.In(0).known_rank() ? t.In(0).rank() : 0);
}

void LrnMeaning(const LrnAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const int64_t reach = a.nsize / 2;
  const Expr energy = Definition::ReduceOver(
      ReduceOp::kSum, {Max(i[1] - reach, 0)},
      {Min(i[1] + (reach + 1), def.InShape(0)[1])},
      [&](const std::vector<Expr>& channel) {
        const Expr x = def.In(0, {i[0], channel[0], i[2], i[3]});
        return x * x;
      });
  const Expr norm = def.Lit(a.knorm) +
                    def.Lit(a.alpha / static_cast<double>(a.nsize)) * energy;
  def.Set(0, def.In(0, i) * Pow(norm, def.Lit(-a.beta)));
  def.Set(1, norm);
}

std::vector<Value> LrnGradient(const LrnAttrs& a, GradientBuilder& g) {
  return {g.Op<op::LRNGradient>({g.Head(), g.In(0), g.Out(1)}, a, "data")};
}

}  // namespace

MXC_OP(LRN) {
  return Op<LrnAttrs>("LRN")
      .Doc("local response normalisation across channels")
      .Outputs({"output", "tmp_norm"}, 1)
      .Check(LrnCheck)
      .Types(LrnTypes)
      .FloatsOnly()
      .Meaning(LrnMeaning)
      .Gradient(LrnGradient);
}

}  // namespace mxc
