// SPDX-License-Identifier: Apache-2.0
// Kernels of Map steps with long reductions, which the threads of a block
// compute together. Each takes terms at equal distances; their sums meet by
// shuffles within a warp, then in shared memory, always in the same order.
//
//   rows      what is reduced lies side by side (softmax, layer norm, losses): a
//             block has one result, or a few; kept terms wait in the output
//   columns   results lie side by side (statistics of channels, gradients of
//             biases): a block has up to 32 vectors of them, fewer where there
//             are too few for the device, and several threads for each
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "codegen/cuda/device_function.h"
#include "codegen/cuda/reduction_shape.h"
#include "codegen/loops/map_nests.h"

namespace mxc {

// What the kernel is written from.
struct BlockReduction {
  std::shared_ptr<const MapNests> map;  // of one nest
  ReductionShape shape;
  std::string alignments;  // of the operands, as AlignmentsOf says

  const LoopNest& nest() const { return map->nests[0]; }
  int words_of_point() const;
  int64_t bytes_of(const Expr& reduce) const;  // in shared memory
  int64_t shared_bytes() const;
};

void EmitBlockReduction(DeviceFunction& kernel, const BlockReduction& block);

// Empty where a thread for each result is as good: short reductions, or results
// enough for the device. `alignments`: of the operands, as AlignmentsOf says.
std::optional<DevicePlan> PlanBlockReduction(
    std::shared_ptr<const MapNests> map, const Target& target,
    const std::string& alignments);

}  // namespace mxc
