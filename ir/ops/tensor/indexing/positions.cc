// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/indexing/positions.h"

#include <limits>

namespace mxc {
namespace {

// How many integers from 0 on the type holds exactly.
int64_t ExactIntegers(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return int64_t{1} << 53;
    case DType::kF32:
      return int64_t{1} << 24;
    case DType::kF16:
      return int64_t{1} << 11;
    case DType::kBF16:
      return int64_t{1} << 8;
    case DType::kU8:
      return int64_t{1} << 8;
    case DType::kI8:
      return int64_t{1} << 7;
    case DType::kI16:
      return int64_t{1} << 15;
    case DType::kU16:
      return int64_t{1} << 16;
    case DType::kI32:
      return int64_t{1} << 31;
    case DType::kU32:
      return int64_t{1} << 32;
    default:
      return std::numeric_limits<int64_t>::max();
  }
}

}  // namespace

bool RequirePositions(TypeInference& t, int64_t count, DType dtype) {
  if (dtype == DType::kUnknown) return true;
  return t.Require(count <= ExactIntegers(dtype),
                   "the positions of {} elements are more than {} holds "
                   "exactly, {}",
                   count, MxnetName(dtype), ExactIntegers(dtype));
}

}  // namespace mxc
