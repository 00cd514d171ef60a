// SPDX-License-Identifier: Apache-2.0
// What the estimates of Winograd's kernels, forward and of weights' gradients,
// have in common.
#pragma once

#include <cstdint>

#include "codegen/cpu/contraction/nest.h"

namespace mxc::contraction {

// Elements between planes, whose elements then lie in different sets of the
// caches.
inline constexpr int64_t kPlanePadding = 16;
inline constexpr int64_t kMostBlockTiles = 128;
inline constexpr int64_t kMostScratchBytes = 8 << 20;
// Cycles in which one entry of a window, of a product or of a sum is
// transformed.
inline constexpr double kTransformCycles = 5;

inline double Real(int64_t x) { return static_cast<double>(x); }

}  // namespace mxc::contraction
