// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp compute together (codegen/cuda/primitives.def).
#pragma once

#include <cstdint>

namespace mxc::runtime {

inline constexpr uint32_t kLanes = 32;

// lanes[l] are the words of lane l: arguments, then results.
using LaneWords = uint32_t* [kLanes];

void ShuffleXor(const LaneWords& lanes);
void LoadMatrices(const LaneWords& lanes);
void LoadTurnedMatrices(const LaneWords& lanes);
void MmaTf32(const LaneWords& lanes);
void MmaF32(const LaneWords& lanes);
void MmaBf16(const LaneWords& lanes);
void MmaF16(const LaneWords& lanes);

}  // namespace mxc::runtime
