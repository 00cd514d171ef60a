// SPDX-License-Identifier: Apache-2.0
// Plans a convolution with cuDNN, deterministic and within a workspace.
#pragma once

#include <memory>

#include "runtime/abi/convolution.h"
#include "runtime/device/cuda/cudnn.h"
#include "runtime/device/cuda/library_step.h"

namespace mxc::runtime {

// Null where the library has no way that is deterministic, rounds no operand or
// sum unless the convolution allows it, and needs no more than
// `workspace_bytes`. The thread has the device's context.
std::unique_ptr<CudaLibraryStep> PlanLibraryConvolution(
    const Cudnn& library, const Convolution& convolution,
    uint64_t workspace_bytes);

}  // namespace mxc::runtime
