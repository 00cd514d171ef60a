// SPDX-License-Identifier: Apache-2.0
// NVIDIA's library for products of matrices, where the machine has it. What of
// its API is used is declared here, as the driver's is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/device/cuda/driver.h"

namespace mxc::runtime {

using CublasLtStatus = int;
using CublasLtHandle = struct cublasLtContext*;
// What it calls opaque: a product, where a matrix lies, what is wished for.
using CublasLtProduct = struct cublasLtMatmulDescOpaque_t*;
using CublasLtMatrix = struct cublasLtMatrixLayoutOpaque_t*;
using CublasLtWish = struct cublasLtMatmulPreferenceOpaque_t*;

struct CublasLtAlgorithm {
  uint64_t data[8];
};
struct CublasLtProposal {
  CublasLtAlgorithm algorithm;
  size_t workspace_bytes;
  CublasLtStatus status;
  float waves;
  int reserved[4];
};

// Values of cublasLt.h, cublas_api.h and library_types.h.
inline constexpr int kCublasF32 = 0;
inline constexpr int kCublasComputeF32 = 68, kCublasComputeTf32 = 77;
inline constexpr int kCublasPlain = 0, kCublasTransposed = 1;
inline constexpr int kProductTransposeA = 3, kProductTransposeB = 4,
                     kProductEpilogue = 7, kProductBias = 8;
inline constexpr int kCublasBiasEpilogue = 4;
inline constexpr int kMatrixBatch = 5, kMatrixBatchStride = 6;
inline constexpr int kWishWorkspace = 1, kWishReductions = 3,
                     kWishAlignmentA = 5;  // B, C and D follow
inline constexpr int kAlgorithmReduction = 3, kAbilityNumbers = 15;
inline constexpr uint32_t kReductionNone = 0, kReductionInOrder = 2;
inline constexpr uint64_t kNumbersF16 = 1 << 16, kNumbersBf16 = 2 << 16,
                          kNumbersTf32 = 4 << 16;

class CublasLt {
 public:
  // On the device of the context that this thread has. kUnsupported, with the
  // cause, where the machine has no such library. It stays loaded.
  static StatusOr<std::unique_ptr<const CublasLt>> Open();

  CublasLtHandle handle() const { return handle_; }
  std::string Text(CublasLtStatus status) const;

#define MXC_CUBLASLT_FUNCTION(member, symbol, parameters) \
  CublasLtStatus(*member) parameters = nullptr;
#include "runtime/device/cuda/cublaslt.def"

 private:
  const char* (*text_)(CublasLtStatus status) = nullptr;
  CublasLtHandle handle_ = nullptr;
};

}  // namespace mxc::runtime
