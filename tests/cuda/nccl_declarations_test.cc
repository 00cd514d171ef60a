// SPDX-License-Identifier: Apache-2.0
// That what runtime/device/cuda declares of NCCL is what nccl.h declares: it
// compiles. Built where there is an nccl.h.
#include <nccl.h>

#include "tests/cuda/declared_alike.h"

using NcclComm = ncclComm_t;
using CudaStreamHandle = cudaStream_t;

#define MXC_NCCL_FUNCTION(member, symbol, parameters) \
  extern int Our_##member parameters;                 \
  MXC_ASSERT_ALIKE(Our_##member, symbol);
#include "runtime/device/cuda/nccl.def"

// The values in runtime/device/cuda/nccl.cc.
static_assert(ncclSuccess == 0 && ncclSum == 0 && ncclInt8 == 0);
static_assert(ncclFloat16 == 6 && ncclFloat32 == 7);
static_assert(ncclFloat64 == 8 && ncclBfloat16 == 9);
