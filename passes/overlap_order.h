// SPDX-License-Identifier: Apache-2.0
// An order of steps in which those that may run beside others do.
#pragma once

#include <span>

#include "ir/program/program.h"
#include "passes/schedule.h"

namespace mxc {

// An order and about how long it takes.
struct TimedOrder {
  Order order;
  double seconds = 0;
};

// `given`, but for this: a step that may run beside others comes as soon as it
// can, and while its readers wait for it, others of the next `reach` steps come
// first. The steps that run beside others are one queue, the rest another; each
// step takes its number of `seconds`.
TimedOrder OverlapOrder(std::span<const double> seconds, const Program& program,
                        const Schedule& schedule, const Order& given,
                        int64_t reach);

}  // namespace mxc
