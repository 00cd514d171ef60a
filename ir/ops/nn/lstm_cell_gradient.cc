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

void LstmCellGradientMeaning(const NoAttrs&, Definition& def) {
  const int64_t batch = def.InShape(2)[0], length = def.InShape(2)[1];
  const auto square = [](const Expr& x) { return x * x; };
  const auto one_less = [](const Expr& x) { return Lit(1, x) - x; };
  // All of one row and unit of the cell.
  struct Unit {
    Expr in, forget, candidate, out, before, gradient, squashed, hidden;
  };
  const auto unit = [&](const Expr& row, const Expr& k) {
    const auto gate = [&](int64_t n) {
      return def.In(0, {row, k + n * length});
    };
    Unit u;
    u.in = Sigmoid(gate(0));
    u.forget = Sigmoid(gate(1));
    u.candidate = Tanh(gate(2));
    u.out = Sigmoid(gate(3));
    u.before = def.In(1, {row, k});
    u.squashed = Tanh(def.In(2, {row, k}));
    u.hidden = def.In(3, {row, k});
    u.gradient =
        def.In(4, {row, k}) + u.hidden * u.out * one_less(square(u.squashed));
    return u;
  };
  for (int n = 0; n < 4; ++n) {
    const Unit u = unit(Var(0), Var(1) - n * length);
    const Expr slopes[] = {
        u.gradient * u.candidate * u.in * one_less(u.in),
        u.gradient * u.before * u.forget * one_less(u.forget),
        u.gradient * u.in * one_less(square(u.candidate)),
        u.hidden * u.squashed * u.out * one_less(u.out)};
    def.SetBox(0, {0, n * length}, {batch, length}, slopes[n]);
  }
  const Unit u = unit(Var(0), Var(1));
  def.Set(1, u.gradient * u.forget);
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
