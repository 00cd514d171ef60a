// SPDX-License-Identifier: Apache-2.0
// What the estimates of Winograd's kernels, forward and of weights' gradients,
// have in common.
#pragma once

#include <cstdint>

#include "codegen/contraction/nest.h"

namespace mxc::contraction {

// Planes whose elements lie in different sets of the caches.
inline constexpr int64_t kPlanePadding = kLineFloats;
inline constexpr int64_t kMostBlockTiles = 128;
inline constexpr int64_t kMostScratchBytes = 8 << 20;
// A core at 3 GHz with two multiply-adds in a cycle; cycles in which one entry
// of a window, of a product or of a sum is transformed.
inline constexpr double kWinogradClock = 3e9;
inline constexpr double kTransformCycles = 5;
inline constexpr double kWinogradTaskSeconds = 1e-6;

inline double Real(int64_t x) { return static_cast<double>(x); }

}  // namespace mxc::contraction
