// SPDX-License-Identifier: Apache-2.0
// Plans a matrix product with cuBLASLt, deterministic and within a workspace.
#pragma once

#include <memory>

#include "runtime/abi/matrix_product.h"
#include "runtime/device/cuda/cublaslt.h"
#include "runtime/device/cuda/library_step.h"

namespace mxc::runtime {

// Null where the library has no way that is deterministic, rounds no operand
// unless the product allows it, and needs no more than `workspace_bytes`, or
// where it cannot say the product. The thread has the device's context.
std::unique_ptr<CudaLibraryStep> PlanLibraryProduct(
    const CublasLt& library, const MatrixProduct& product,
    uint64_t workspace_bytes);

}  // namespace mxc::runtime
