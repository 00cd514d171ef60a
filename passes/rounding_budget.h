// SPDX-License-Identifier: Apache-2.0
// How much rounding the kernels along any way through a program may add.
//
// Winograd's algorithm errs by more than the sums that it stands for, the more
// the larger its tiles. What one step adds passes through later ones about as
// the values do: relative to them it stays what it is, and the squares of
// independent errors add up. So a deep network cannot have in every layer what
// a shallow one can. Where the sum along the longest way exceeds the budget, the
// steps on it whose more exact kernel costs least for what it saves take that.
#pragma once

#include <span>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

// A kernel that a step may have: what it adds (KernelCandidate::rounding), and
// what it costs.
struct RoundedKernel {
  double rounding = 0, seconds = 0;
};

// By step: the most that its kernel may add, so that no way through the program
// has more than `budget`, if there are such kernels. `kernels`, by step: the
// fastest first, each later one slower and more exact; may be empty.
std::vector<double> RoundingLimits(
    const Program& program, std::span<const std::vector<RoundedKernel>> kernels,
    double budget);

}  // namespace mxc
