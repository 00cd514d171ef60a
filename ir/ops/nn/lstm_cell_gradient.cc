// SPDX-License-Identifier: Apache-2.0
// _lstm_cell_gradient: one step of an lstm backwards.
//   gates           f[N, 4·H]   i, f, g, o, before their activations
//   before, cell    f[N, H]     the cell before and after the step,
//                               cell = σ(f)·before + σ(i)·tanh(g)
//   hidden_gradient f[N, H]     of σ(o)·tanh(cell)
//   cell_gradient   f[N, H]     of cell, from the step after
//   gates_gradient  f[N, 4·H]
//   before_gradient f[N, H]
// C1  the shapes agree
#include "ir/ops/nn/activation.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

void LstmCellGradientTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  const Shape& cell = t.In(2);
  if (!cell.known() || !t.In(0).known()) return;
  if (!t.Require(cell.rank() == 2 && t.In(0) == Shape{cell[0], 4 * cell[1]},
                 "C1: gates have shape {} and cell {}", ToString(t.In(0)),
                 ToString(cell))) {
    return;
  }
  for (const int input : {1, 3, 4}) t.SetIn(input, cell);
  t.SetOut(0, t.In(0));
  t.SetOut(1, cell);
}

// All of one row and unit of the cell.
struct LstmUnit {
  Expr in, forget, candidate, out;
  Expr before, squashed;  // tanh(cell)
  Expr hidden_gradient, cell_gradient;
};

Expr LstmOneLess(const Expr& x) { return Lit(1, x) - x; }

LstmUnit LstmUnitOf(const Definition& def, const Expr& row, const Expr& k) {
  const int64_t length = def.InShape(2)[1];
  const auto gate = [&](int64_t n) { return def.In(0, {row, k + n * length}); };
  LstmUnit u;
  u.in = Sigmoid(gate(0));
  u.forget = Sigmoid(gate(1));
  u.candidate = Tanh(gate(2));
  u.out = Sigmoid(gate(3));
  u.before = def.In(1, {row, k});
  u.squashed = Tanh(def.In(2, {row, k}));
  u.hidden_gradient = def.In(3, {row, k});
  u.cell_gradient =
      def.In(4, {row, k}) +
      u.hidden_gradient * u.out * LstmOneLess(u.squashed * u.squashed);
  return u;
}

void LstmCellGradientMeaning(const NoAttrs&, Definition& def) {
  const int64_t batch = def.InShape(2)[0], length = def.InShape(2)[1];
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
      .Inputs({{"gates"},
               {"before"},
               {"cell"},
               {"hidden_gradient"},
               {"cell_gradient"}})
      .Outputs({"gates_gradient", "before_gradient"})
      .Types(LstmCellGradientTypes)
      .Meaning(LstmCellGradientMeaning);
}

}  // namespace mxc
