// SPDX-License-Identifier: Apache-2.0
// That what runtime/device/cuda declares of cuBLASLt is what cublasLt.h
// declares: it compiles. Built where there is a cublasLt.h.
#include <cublasLt.h>

#include <cstddef>
#include "tests/cuda/declared_alike.h"

using CublasLtStatus = cublasStatus_t;
using CublasLtHandle = cublasLtHandle_t;
using CublasLtProduct = cublasLtMatmulDesc_t;
using CublasLtMatrix = cublasLtMatrixLayout_t;
using CublasLtWish = cublasLtMatmulPreference_t;
using CublasLtAlgorithm = cublasLtMatmulAlgo_t;
using CublasLtProposal = cublasLtMatmulHeuristicResult_t;
using CudaStreamHandle = cudaStream_t;

#define MXC_CUBLASLT_FUNCTION(member, symbol, parameters) \
  extern CublasLtStatus Our_##member parameters;          \
  MXC_ASSERT_ALIKE(Our_##member, symbol);
#include "runtime/device/cuda/cublaslt.def"

// The values and structs in runtime/device/cuda/cublaslt.h.
static_assert(sizeof(cublasLtMatmulAlgo_t) == 64);
static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == 96);
static_assert(offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) == 64);
static_assert(offsetof(cublasLtMatmulHeuristicResult_t, state) == 72);
static_assert(CUBLAS_STATUS_SUCCESS == 0);
static_assert(CUDA_R_32F == 0);
static_assert(CUBLAS_COMPUTE_32F == 68);
static_assert(CUBLAS_COMPUTE_32F_FAST_TF32 == 77);
static_assert(CUBLAS_OP_N == 0 && CUBLAS_OP_T == 1);
static_assert(CUBLASLT_MATMUL_DESC_TRANSA == 3);
static_assert(CUBLASLT_MATMUL_DESC_TRANSB == 4);
static_assert(CUBLASLT_MATMUL_DESC_EPILOGUE == 7);
static_assert(CUBLASLT_MATMUL_DESC_BIAS_POINTER == 8);
static_assert(CUBLASLT_EPILOGUE_BIAS == 4);
static_assert(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT == 5);
static_assert(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET == 6);
static_assert(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES == 1);
static_assert(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK == 3);
static_assert(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES == 5);
static_assert(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES == 8);
static_assert(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME == 3);
static_assert(CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS == 15);
static_assert(CUBLASLT_REDUCTION_SCHEME_NONE == 0);
static_assert(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE == 2);
static_assert(CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F == 1 << 16);
static_assert(CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF == 2 << 16);
static_assert(CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32 == 4 << 16);
