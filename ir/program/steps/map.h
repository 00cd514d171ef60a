// SPDX-License-Identifier: Apache-2.0
// The step kind Map: expressions over operands, one for each box of an output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program/expr.h"
#include "ir/program/step_values.h"

namespace mxc {

// One tensor expression written to a box of an output: for every index i with
// begin ≤ i < begin + extent, output[i] = value, where variable k of `value` is
// i[k]. The stores of a step are disjoint and cover its outputs.
struct Store {
  int output = 0;  // which of the step's outputs
  Extents begin, extent;
  Expr value;
};

// Elementwise, broadcast, reduction, view, gather: everything that has no fast
// algorithm of its own. Loads name the step's inputs.
struct Map {
  std::vector<Store> stores;

  static constexpr bool kPure = true;
  static constexpr Layouts kLayouts = Layouts::kAny;
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
