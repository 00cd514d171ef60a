// SPDX-License-Identifier: Apache-2.0
// _lstm_cell_gradient: one step of an lstm backwards. All inputs are f[N, H].
//   in, forget, candidate, out   the gates σ(i), σ(f), tanh(g), σ(o)
//   before           the cell before the step; after it,
//                    cell = forget·before + in·candidate
//   squashed         tanh(cell)
//   hidden_gradient  of out·squashed
//   cell_gradient    of cell, from the step after
//   gates_gradient   f[N, 4·H]  of i, f, g, o, before their activations
//   before_gradient  f[N, H]
// The gates are as forward left them: to compute an activation again takes
// longer than all else here.
// C1  the inputs have two axes
#include "ir/ops/op.h"

namespace mxc {
namespace {

constexpr int kLstmCellInputs = 8;

void LstmCellGradientTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  const Shape& gate = t.In(0);
  if (!gate.known()) return;
  if (!t.Require(gate.rank() == 2, "C1: in has {} axes, expected 2",
                 gate.rank())) {
    return;
  }
  for (int input = 1; input < kLstmCellInputs; ++input) t.SetIn(input, gate);
  t.SetOut(0, {gate[0], 4 * gate[1]});
  t.SetOut(1, gate);
}

// All of one row and unit of the cell.
struct LstmUnit {
  Expr in, forget, candidate, out, before, squashed;
  Expr hidden_gradient, cell_gradient;  // of the cell after the step
};

Expr LstmOneLess(const Expr& x) { return Lit(1, x) - x; }

LstmUnit LstmUnitOf(const Definition& def, const Expr& row, const Expr& k) {
  const auto input = [&](int i) { return def.In(i, {row, k}); };
  LstmUnit u = {input(0), input(1), input(2), input(3),
                input(4), input(5), input(6), input(7)};
  u.cell_gradient = u.cell_gradient + u.hidden_gradient * u.out *
                                          LstmOneLess(u.squashed * u.squashed);
  return u;
}

void LstmCellGradientMeaning(const NoAttrs&, Definition& def) {
  const int64_t batch = def.InShape(0)[0], length = def.InShape(0)[1];
  for (int n = 0; n < 4; ++n) {
    const LstmUnit u = LstmUnitOf(def, Var(0), Var(1) - n * length);
    const Expr gradients[] = {
        u.cell_gradient * u.candidate * u.in * LstmOneLess(u.in),
        u.cell_gradient * u.before * u.forget * LstmOneLess(u.forget),
        u.cell_gradient * u.in * LstmOneLess(u.candidate * u.candidate),
        u.hidden_gradient * u.squashed * u.out * LstmOneLess(u.out)};
    def.SetBox(0, {0, n * length}, {batch, length}, gradients[n]);
  }
  const LstmUnit u = LstmUnitOf(def, Var(0), Var(1));
  def.Set(1, u.cell_gradient * u.forget);
}

}  // namespace

MXC_OP(LstmCellGradient) {
  return Op<>("_lstm_cell_gradient")
      .Internal()
      .Doc("one step of an lstm backwards")
      .Inputs({{"in"},
               {"forget"},
               {"candidate"},
               {"out"},
               {"before"},
               {"squashed"},
               {"hidden_gradient"},
               {"cell_gradient"}})
      .Outputs({"gates_gradient", "before_gradient"})
      .Types(LstmCellGradientTypes)
      .Meaning(LstmCellGradientMeaning);
}

}  // namespace mxc
