// SPDX-License-Identifier: Apache-2.0
// A rough estimate of the time that address forms take: enough to decide into
// how many tasks the work is cut.
#pragma once

#include <functional>
#include <span>

#include "ir/program/expr.h"
#include "ir/target/machine.h"

namespace mxc {

// What is known of the loops around a form.
struct CostContext {
  std::function<int64_t(int var)> trips;  // how many values a variable has
  // Whether a Load jumps from lane to lane, so that each lane is fetched.
  std::function<bool(const ExprNode& load)> jumps;
  int lanes = 1;
};

// Of forms that are computed in one sweep. Every distinct node is evaluated
// once for each value of its variables.
double EstimateNanoseconds(const Machine& machine, std::span<const Expr> forms,
                           const CostContext& context);

}  // namespace mxc
