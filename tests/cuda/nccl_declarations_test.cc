// SPDX-License-Identifier: Apache-2.0
// That what runtime/device/cuda declares of NCCL is what nccl.h declares: it
// compiles. Built where there is an nccl.h.
#include <nccl.h>

#include <type_traits>

using NcclComm = ncclComm_t;
using CudaStreamHandle = cudaStream_t;

// Enums are integers in our declarations.
template <class A, class B>
constexpr bool kAlike =
    std::is_same_v<A, B> ||
    (sizeof(A) == sizeof(B) && std::is_integral_v<A> && std::is_enum_v<B>);

template <class Ours, class Theirs>
struct Functions;
template <class... A, class... B>
struct Functions<int(A...), ncclResult_t(B...)> {
  static constexpr bool alike =
      sizeof...(A) == sizeof...(B) && (kAlike<A, B> && ...);
};

#define MXC_NCCL_FUNCTION(member, symbol, parameters)                       \
  extern int Our_##member parameters;                                       \
  static_assert(Functions<decltype(Our_##member), decltype(symbol)>::alike, \
                #symbol);
#include "runtime/device/cuda/nccl.def"

// The values in runtime/device/cuda/nccl.cc.
static_assert(ncclSuccess == 0 && ncclSum == 0);
static_assert(ncclFloat16 == 6 && ncclFloat32 == 7);
static_assert(ncclFloat64 == 8 && ncclBfloat16 == 9);
