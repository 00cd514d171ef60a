// SPDX-License-Identifier: Apache-2.0
// How much work a store is, in units of one vectorised addition for one
// element: what fusion weighs.
#pragma once

#include <functional>

#include "ir/program/program.h"
#include "ir/target/machine.h"

namespace mxc {

// What a step costs besides its elements.
inline double StepCost(const Machine& machine) {
  return machine.launch_seconds * machine.elements_per_second;
}

// The work of a store whose loops are its axes, in order, when each distinct
// subexpression is evaluated once in the innermost loop that binds one of its
// free variables: what codegen's hoisting achieves.
double HoistedCost(const Store& store);

// How many nodes are evaluated when nothing is hoisted: the interpreter's work.
double NaiveEvaluations(const Store& store);

// Nodes of the expression when a shared subtree counts each time: what printing
// and other plain walks visit. Fusion keeps it below kMaxTreeSize.
double TreeSize(const Expr& e);
inline constexpr double kMaxTreeSize = 4096;

// The number of times a reduction's range is run through; bounds that vary are
// estimated by their largest extent.
int64_t ExtentOf(const Range& range);

}  // namespace mxc
