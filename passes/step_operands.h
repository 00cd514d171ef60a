// SPDX-License-Identifier: Apache-2.0
// The operand list of a step and the Loads that index it.
#pragma once

#include <functional>
#include <vector>

#include "ir/program/expr.h"
#include "ir/program/program.h"

namespace mxc {

// Every expression of a step whose Loads index its operands.
void VisitExprs(Step& step, const std::function<void(Expr&)>& f);
void VisitExprs(const Step& step, const std::function<void(const Expr&)>& f);

// Operands below this number stand where the step's body expects them: data
// and weight of a contraction, all of a kind that does not say.
int FixedOperands(const Step& step);

// The operand number of `buffer`, appended if the step does not read it yet.
int OperandOf(Step& step, int buffer);

// Appends the operands of `more`: what it loads and writes has numbers that are
// greater by these in `step`.
struct OperandShift {
  int inputs = 0, outputs = 0;
};
OperandShift AppendOperands(Step& step, const Step& more);

// Drops operands that nothing loads and merges equal ones; renumbers the Loads.
// True if it changed the step.
bool TidyOperands(Step& step);

}  // namespace mxc
