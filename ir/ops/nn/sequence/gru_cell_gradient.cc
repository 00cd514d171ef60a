// SPDX-License-Identifier: Apache-2.0
// _gru_cell_gradient: one step of a gru backwards. All inputs are f[N, H].
//   reset, keep, candidate   the gates σ(r), σ(z), tanh(n), as forward left
//                            them; n is the data's part + reset·recalled
//   recalled         the state's part of the candidate
//   before           the state before the step
//   hidden_gradient  of the state after it, (1 − keep)·candidate + keep·before
//   input_gradient, recurrent_gradient   f[N, 3·H]  of r, z, n before their
//                    activations, the parts from the data and from the state
//   before_gradient  f[N, H]  but for what passes through recurrent
// C1  the inputs have two axes
#include "ir/ops/op.h"

namespace mxc {
namespace {

constexpr int kGruCellInputs = 6;

void GruCellGradientTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  const Shape& gate = t.In(0);
  if (!gate.known()) return;
  if (!t.Require(gate.rank() == 2, "C1: reset has {} axes, expected 2",
                 gate.rank())) {
    return;
  }
  for (int input = 1; input < kGruCellInputs; ++input) t.SetIn(input, gate);
  for (int output = 0; output < 2; ++output) {
    t.SetOut(output, {gate[0], 3 * gate[1]});
  }
  t.SetOut(2, gate);
}

// The gradients of one row and unit of the cell.
struct GruUnit {
  Expr reset, keep, candidate;  // before their activations
  Expr recalled, before;
};

GruUnit GruUnitOf(const Definition& def, const Expr& row, const Expr& k) {
  const auto input = [&](int i) { return def.In(i, {row, k}); };
  const auto one_less = [](const Expr& x) { return Lit(1, x) - x; };
  const Expr reset = input(0), keep = input(1), candidate = input(2);
  const Expr recalled = input(3), before = input(4), gradient = input(5);
  GruUnit u;
  u.candidate = gradient * one_less(keep) * one_less(candidate * candidate);
  u.keep = gradient * (before - candidate) * keep * one_less(keep);
  u.reset = u.candidate * recalled * reset * one_less(reset);
  u.recalled = u.candidate * reset;
  u.before = gradient * keep;
  return u;
}

void GruCellGradientMeaning(const NoAttrs&, Definition& def) {
  const int64_t batch = def.InShape(0)[0], length = def.InShape(0)[1];
  for (int n = 0; n < 3; ++n) {
    const GruUnit u = GruUnitOf(def, Var(0), Var(1) - n * length);
    const Expr from_input[] = {u.reset, u.keep, u.candidate};
    const Expr from_state[] = {u.reset, u.keep, u.recalled};
    def.SetBox(0, {0, n * length}, {batch, length}, from_input[n]);
    def.SetBox(1, {0, n * length}, {batch, length}, from_state[n]);
  }
  def.Set(2, GruUnitOf(def, Var(0), Var(1)).before);
}

}  // namespace

MXC_OP(GruCellGradient) {
  return Op<>("_gru_cell_gradient")
      .Internal()
      .Doc("one step of a gru backwards")
      .Inputs({{"reset"},
               {"keep"},
               {"candidate"},
               {"recalled"},
               {"before"},
               {"hidden_gradient"}})
      .Outputs({"input_gradient", "recurrent_gradient", "before_gradient"})
      .Types(GruCellGradientTypes)
      .Meaning(GruCellGradientMeaning);
}

}  // namespace mxc
