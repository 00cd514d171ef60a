// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "runtime/abi/matrix_product.h"
#include "runtime/device/cuda/cublaslt.h"
#include "runtime/device/device.h"

namespace mxc::runtime {

// A product that cuBLASLt computes.
class LibraryProduct : public LibraryStep {
 public:
  // Puts it into the stream. The sentence of a failure: "cannot multiply
  // matrices: …". One thread at a time.
  virtual Status Run(std::span<void* const> operands, CudaAddress workspace,
                     CudaStreamHandle stream) = 0;
};

// Null where the library has no way that is deterministic, rounds no operand
// unless the product allows it, and needs no more than `workspace_bytes`, or
// where it cannot say the product. The thread has the device's context.
std::unique_ptr<LibraryProduct> PlanLibraryProduct(const CublasLt& library,
                                                   const MatrixProduct& product,
                                                   uint64_t workspace_bytes);

}  // namespace mxc::runtime
