// SPDX-License-Identifier: Apache-2.0
// What a planned Program needs in memory, as a few numbers: what tests hold
// plans to. Which buffers share which bytes: tools/overview.h.
#pragma once

#include <cstdint>

#include "ir/program/program.h"

namespace mxc {

struct MemoryReport {
  // Internal tensors as laid out, and outputs; no inputs, no parameters.
  int64_t activation_bytes = 0;
  // The same at the worst step without the gradients of parameters, which
  // MXNet's figures leave out: what only steps that update states read.
  int64_t activation_bytes_beside_gradients = 0;
  int64_t workspace_bytes = 0;  // scratch of the worst step, one thread's
  int64_t peak_bytes = 0;       // activations and workspace
  // No placement of this schedule needs less: the largest sum of live bytes,
  // the outputs, the workspace.
  int64_t lower_bound_bytes = 0;
};

MemoryReport ReportMemory(const Program& program);

}  // namespace mxc
