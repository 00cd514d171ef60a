// SPDX-License-Identifier: Apache-2.0
// Where the elements of one side of a product lie in a stage of shared memory.
#pragma once

#include <cstdint>

#include "codegen/cuda/device_function.h"

namespace mxc {

// A stage has `lines` rows of data, or columns of weights, of `depth` elements
// of `bytes` each. Vectors of 16 bytes come along the depth or along the lines,
// and lie side by side.
//
// Warps read lines, which are apart by so much that 8 of them lie in different
// banks. Warpgroups read cores, 8 vectors of 16 bytes one behind the other: along
// the depth, vectors of 8 lines; along the lines, vectors of 8 of the depth (PTX
// ISA, "Shared Memory Matrix Layout" of wgmma without swizzle, K-major and
// MN-major). Cores next to each other lie in different banks, too.
struct StageLayout {
  int lines = 0, depth = 0, bytes = 0;
  bool along_depth = true, cores = false;

  // Of a stage: a multiple of 16 bytes.
  int64_t Words() const;
  // The element's number in the stage; i32.
  llvm::Value* Place(DeviceFunction& kernel, llvm::Value* line,
                     llvm::Value* depth_index) const;

  // Between cores that are neighbours along the lines, and along the depth.
  int64_t BytesToNextLines() const;
  int64_t BytesToNextDepth() const;
  // Elements of a core in both directions, of 2 bytes each.
  static constexpr int kCore = 8;
};

}  // namespace mxc
