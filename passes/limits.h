// SPDX-License-Identifier: Apache-2.0
// A network whose tensors all fit (Unfit, ir/graph/tensor.h) may still become
// one that nothing can hold: by tensors that rules add, or by their number.
#pragma once

#include "ir/graph/graph.h"
#include "ir/program/program.h"

namespace mxc {

// An error, at the place of its origin, for every tensor of too many bytes.
Status RequireAddressable(const Graph& graph);

// The same for the bytes of all buffers together, without sharing. So much is
// known after lowering; sums over buffers cannot overflow then.
Status RequireAddressable(const Program& program);

// What the artifact's tables cannot hold: buffers of more than kMaxTensorRank
// axes, which rules may make and fusion may take away again.
Status RequireStorable(const Program& program);

}  // namespace mxc
