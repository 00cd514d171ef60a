// SPDX-License-Identifier: Apache-2.0
// The kernel of two steps, the first of which computes sums for each channel
// and the second what follows from them for each element of the channel: batch
// norms and their gradients. A block has a channel, or where channels lie side by
// side a vector of them or two: it adds, waits, goes on with the sums, and finds
// the elements in the cache.
#pragma once

#include <functional>
#include <optional>

#include "codegen/cuda/device_function.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

// Whether an operand, by its buffer, begins where vectors may be read: 'v'.
using AlignmentOf = std::function<char(int buffer)>;

// Nothing where the steps have another form, or where there are too few
// channels to keep the device busy. The kernel's operand i is buffer i.
std::optional<DevicePlan> PlanChannels(const Program& program, const Step& sums,
                                       const Step& elements,
                                       const Target& target,
                                       const AlignmentOf& alignment);

}  // namespace mxc
