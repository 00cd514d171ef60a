// SPDX-License-Identifier: Apache-2.0
// The step kind RowUpdate: few rows of large tensors change.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/program/expr.h"
#include "ir/program/step_values.h"

namespace mxc {

// Tensors of one shape of which some rows change, and the others stay:
//
//   rows 128 at %2[i2]
//     keep %0[i0, i1] next %0[i0, i1] - %3[] * %4[i2, i1]
//
// Slot i<rank> names the row `row`, or none where that is no row; a row has one
// slot at most. For each output there is what the tensor was, a Load at the
// identity index i0, i1 …, and what an element of a row becomes that a slot
// names. Whatever else the values read, they read at other indices, so that an
// output may lie over what it was: then the time is that of the slots.
struct RowUpdate {
  struct Change {
    Expr keep, next;
  };
  int64_t slots = 1;
  Expr row;                     // i64, of the slot alone
  std::vector<Change> changes;  // one for each output

  static constexpr bool kPure = true;
  std::string Print() const;
  std::optional<std::string> Verify(const Program& program,
                                    const Step& step) const;
  void Interpret(StepValues& values) const;
  std::string Key(const Program& program, const Step& step,
                  const ExprText& text) const;
  double Flops(const Program& program, const Step& step) const;
  void VisitExprs(const std::function<void(Expr&)>& f);
  int FixedOperands(const Step&) const { return 0; }
};

}  // namespace mxc
