// SPDX-License-Identifier: Apache-2.0
// One run of an executor on arrays, which may lie over one another.
#pragma once

#include <span>

#include "runtime/base/status.h"
#include "runtime/executor/executor.h"
#include "runtime/ndarray/array.h"

namespace mxc::runtime {

// Returns whether they have a byte in common.
bool Overlap(const NDArray& a, const NDArray& b);

// Inputs and outputs in the order of the executor's; `states`: what it keeps.
// What a run may write before all is read goes over memory of the executor's own.
// Outputs do not overlap one another.
Status RunBound(Executor& executor, ArrayRefs inputs, ArrayRefs outputs,
                ArrayRefs states);

}  // namespace mxc::runtime
