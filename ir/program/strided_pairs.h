// SPDX-License-Identifier: Apache-2.0
// StridedPairs: which positions of a strided window and which of its taps meet
// at a place, as a loop in which no round is wasted.
#pragma once

#include <cstdint>
#include <functional>

#include "ir/program/expr.h"

namespace mxc {

// Numbers 0, 1 … count − 1, of which each stands for a multiple of `step`.
struct Strided {
  int64_t step = 1, count = 1;
};

// For begin ≤ r < end, first(r) and second(r) are the pairs that meet, by
// ascending `first`. There are none where end ≤ begin.
struct StridedPairs {
  Expr begin, end;
  std::function<Expr(const Expr& r)> first, second;
  int64_t most = 0;  // rounds at any place
};

// All a of `first` and b of `second` with a · first.step + b · second.step = at
// for an `at` that is not negative.
StridedPairs PairsThatMeet(const Expr& at, const Strided& first,
                           const Strided& second);

}  // namespace mxc
