// SPDX-License-Identifier: Apache-2.0
// Steps that compute each image of a batch by itself, as a loop over tiles of a
// few images.
#pragma once

#include <optional>
#include <vector>

#include "ir/program/program.h"
#include "passes/image_steps.h"
#include "passes/pass.h"

namespace mxc {

// When the buffers of a program are in use, found once for all its loops: they
// are made from the last to the first, and none changes what stands before it.
struct BufferTimes {
  explicit BufferTimes(const Program& program);

  std::vector<LiveRange> live;   // by root
  std::vector<int> last_reader;  // by buffer; -1: none
};

// Steps [first, end) of the program, all by image, as one step with a TileLoop.
// Nothing where they cannot be.
std::optional<Step> LoopOver(const Program& program, const BufferTimes& times,
                             size_t first, size_t end, const TileSize& size,
                             PassContext& context);

}  // namespace mxc
