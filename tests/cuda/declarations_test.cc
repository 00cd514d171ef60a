// SPDX-License-Identifier: Apache-2.0
// That what runtime/device/cuda declares of CUDA's driver is what cuda.h
// declares: it compiles. Built where there is a cuda.h.
#include <cuda.h>

#include "tests/cuda/declared_alike.h"

using CudaResult = CUresult;
using CudaOrdinal = CUdevice;
using CudaAddress = CUdeviceptr;
using CudaContext = CUcontext;
using CudaModuleHandle = CUmodule;
using CudaFunction = CUfunction;
using CudaStreamHandle = CUstream;
using CudaEvent = CUevent;
using CudaGraph = CUgraph;
using CudaGraphExec = CUgraphExec;

#define MXC_CUDA_FUNCTION(member, symbol, parameters) \
  extern CudaResult Our_##member parameters;          \
  MXC_ASSERT_ALIKE(Our_##member, symbol);
#include "runtime/device/cuda/driver.def"

// The values in runtime/device/cuda/driver.h.
static_assert(CUDA_ERROR_OUT_OF_MEMORY == 2);
static_assert(CU_STREAM_NON_BLOCKING == 1);
static_assert(CU_EVENT_DISABLE_TIMING == 2);
static_assert(CU_STREAM_CAPTURE_MODE_RELAXED == 2);
static_assert(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == 8);
static_assert(CU_JIT_ERROR_LOG_BUFFER == 5);
static_assert(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES == 6);
static_assert(CU_POINTER_ATTRIBUTE_MEMORY_TYPE == 2);
static_assert(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL == 9);
static_assert(CU_MEMORYTYPE_DEVICE == 2);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == 75);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == 76);
