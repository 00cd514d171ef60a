// SPDX-License-Identifier: Apache-2.0
// _gru_cell_gradient: one step of a gru backwards.
//   input, recurrent    f[N, 3·H]   r, z, n from the data and from the state,
//                                   before their activations
//   before              f[N, H]     the state before the step
//   hidden_gradient     f[N, H]     of the state after it,
//                                   (1 − z)·n + z·before
//   input_gradient, recurrent_gradient   f[N, 3·H]
//   before_gradient     f[N, H]     but for what passes through recurrent
// C1  the shapes agree
#include "ir/ops/nn/activation.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

void GruCellGradientTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  const Shape &gates = t.In(0), &before = t.In(2);
  if (!before.known() || !gates.known()) return;
  if (!t.Require(before.rank() == 2 && gates == Shape{before[0], 3 * before[1]},
                 "C1: gates have shape {} and the state {}", ToString(gates),
                 ToString(before))) {
    return;
  }
  t.SetIn(1, gates);
  t.SetIn(3, before);
  t.SetOut(0, gates);
  t.SetOut(1, gates);
  t.SetOut(2, before);
}

// All of one row and unit of the cell.
struct GruUnit {
  Expr reset, keep, reset_gradient, keep_gradient, candidate_gradient;
};

GruUnit GruUnitOf(const Definition& def, const Expr& row, const Expr& k) {
  const int64_t length = def.InShape(2)[1];
  const auto gate = [&](int input, int64_t n) {
    return def.In(input, {row, k + n * length});
  };
  const auto one_less = [](const Expr& x) { return Lit(1, x) - x; };
  GruUnit u;
  u.reset = Sigmoid(gate(0, 0) + gate(1, 0));
  u.keep = Sigmoid(gate(0, 1) + gate(1, 1));
  const Expr candidate = Tanh(gate(0, 2) + u.reset * gate(1, 2));
  const Expr gradient = def.In(3, {row, k});
  u.candidate_gradient =
      gradient * one_less(u.keep) * one_less(candidate * candidate);
  u.keep_gradient =
      gradient * (def.In(2, {row, k}) - candidate) * u.keep * one_less(u.keep);
  u.reset_gradient =
      u.candidate_gradient * gate(1, 2) * u.reset * one_less(u.reset);
  return u;
}

void GruCellGradientMeaning(const NoAttrs&, Definition& def) {
  const int64_t batch = def.InShape(2)[0], length = def.InShape(2)[1];
  for (int n = 0; n < 3; ++n) {
    const GruUnit u = GruUnitOf(def, Var(0), Var(1) - n * length);
    const Expr from_input[] = {u.reset_gradient, u.keep_gradient,
                               u.candidate_gradient};
    const Expr from_state[] = {u.reset_gradient, u.keep_gradient,
                               u.candidate_gradient * u.reset};
    def.SetBox(0, {0, n * length}, {batch, length}, from_input[n]);
    def.SetBox(1, {0, n * length}, {batch, length}, from_state[n]);
  }
  const std::vector<Expr> i = def.Indices(2);
  def.Set(2, def.In(3, i) * GruUnitOf(def, i[0], i[1]).keep);
}

}  // namespace

MXC_OP(GruCellGradient) {
  return Op<>("_gru_cell_gradient")
      .Internal()
      .Doc("one step of a gru backwards")
      .Inputs({{"input"}, {"recurrent"}, {"before"}, {"hidden_gradient"}})
      .Outputs({"input_gradient", "recurrent_gradient", "before_gradient"})
      .Types(GruCellGradientTypes)
      .Meaning(GruCellGradientMeaning);
}

}  // namespace mxc
