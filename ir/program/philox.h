// SPDX-License-Identifier: Apache-2.0
// Random numbers as expressions: Philox2x32-10, a bijection of 64-bit counters
// for each 32-bit key (Salmon et al., Parallel Random Numbers: As Easy as
// 1, 2, 3, 2011). Nothing is stored but a seed and a counter of runs, and every
// element can be computed on its own, again and in any order.
#pragma once

#include "ir/program/expr.h"

namespace mxc {

// u32 each.
struct PhiloxBlock {
  Expr first, second;
};
PhiloxBlock Philox(Expr counter_low, Expr counter_high, Expr key);

// What is drawn from: i64 each, and the number of the stream in a run.
struct PhiloxState {
  Expr seed, counter;
  int64_t stream = 0;
};
// The block of the element at `position` (i64, < 2^32); `attempt` (i64, < 2^8)
// tells apart the blocks of one element.
PhiloxBlock BlockOf(const PhiloxState& state, const Expr& position,
                    const Expr& attempt = 0);

// f32 in [0, 1): the 24 highest bits of a u32.
Expr UnitInterval(const Expr& bits);
// f32 of mean 0 and variance 1, up to ±5.77, from a block's two numbers (Box
// and Muller, 1958).
Expr NormalOf(const PhiloxBlock& block);

}  // namespace mxc
