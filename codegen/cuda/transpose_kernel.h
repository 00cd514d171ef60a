// SPDX-License-Identifier: Apache-2.0
// Maps that read along another axis than they write: threads of a block bring a
// tile into shared memory along the rows of what is read, and take it from there
// along the rows of what is written, so that both accesses are of neighbours.
//
//   x[N, H·W, C] ─► tile ─► y[N, C, H·W], whatever else y depends on
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "codegen/cuda/device_function.h"
#include "codegen/loops/map_nests.h"

namespace mxc {

// A plan if the map has such a tile (transposed_tile.h).
std::optional<DevicePlan> PlanTransposedReads(
    std::shared_ptr<const MapNests> map, const std::string& alignments);

}  // namespace mxc
