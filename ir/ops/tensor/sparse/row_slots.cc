// SPDX-License-Identifier: Apache-2.0
// _row_slots: which rows numbers name, each once, and where.
//   numbers  i32[P] or i64[P]   negative ones name none
//   order    i32[P]   where the numbers are in ascending order, equal ones as
//            they stand
//   rows     i64[P]   the numbers that there are, ascending; then -1
//   begins   i64[P + 1]   places order[begins[k]] … order[begins[k + 1] - 1]
//            have number rows[k]
// C1  numbers and order are vectors of one extent
#include "ir/ops/op.h"
#include "ir/program/procedure_builder.h"

namespace mxc {
namespace {

void RowSlotsTypes(const NoAttrs&, TypeInference& t) {
  t.SetOutDType(0, DType::kI64);
  t.SetOutDType(1, DType::kI64);
  const Shape& numbers = t.In(0);
  if (!numbers.known_rank()) return;
  if (!t.Require(numbers.rank() == 1, "C1: numbers has {} axes, expected 1",
                 numbers.rank())) {
    return;
  }
  t.SetIn(1, numbers);
  t.SetOut(0, numbers);
  if (numbers.known(0)) t.SetOut(1, {numbers[0] + 1});
}

void RowSlotsProcedure(const NoAttrs&, ProcedureBuilder& p) {
  const int64_t count = p.InShape(0)[0];
  const ProcedureArray numbers = p.In(0), order = p.In(1);
  const ProcedureArray rows = p.Out(0), begins = p.Out(1);
  const Expr slot = p.Let(Expr(0)), last = p.Let(Expr(-1));
  p.For(0, count, [&](const Expr& i) {
    const Expr place = Cast(order(i), DType::kI64);
    const Expr number = p.Let(Cast(numbers(place), DType::kI64));
    p.If(number > last, [&] {
      p.Set(rows(slot), number);
      p.Set(begins(slot), i);
      p.Set(slot, slot + Expr(1));
      p.Set(last, number);
    });
  });
  p.For(slot, count, count, [&](const Expr& i) {
    p.Set(rows(i), Expr(-1));
    p.Set(begins(i), Expr(count));
  });
  p.Set(begins(Expr(count)), Expr(count));
}

}  // namespace

MXC_OP(RowSlots) {
  return Op<NoAttrs>("_row_slots")
      .Internal()
      .Doc("which rows numbers name, each once, and where")
      .Inputs({{"numbers"}, {"order"}})
      .Outputs({"rows", "begins"})
      .Types(RowSlotsTypes)
      .Procedure(RowSlotsProcedure)
      .ZeroGradient();
}

}  // namespace mxc
