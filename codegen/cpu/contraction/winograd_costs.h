// SPDX-License-Identifier: Apache-2.0
// What Winograd's kernels, forward and of weights' gradients, have in common.
#pragma once

#include <cstdint>

#include "codegen/cpu/contraction/nest.h"

namespace mxc::contraction {

inline constexpr int64_t kMostBlockTiles = 128;

// Elements between planes, whose elements then lie in different sets of the
// caches.
inline int64_t PlanePadding(DType dtype) { return LineElements(dtype); }

inline double Real(int64_t x) { return static_cast<double>(x); }

}  // namespace mxc::contraction
