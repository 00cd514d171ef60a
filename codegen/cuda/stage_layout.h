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
// banks. Warpgroups read rows of 128 bytes, along the depth or along the lines,
// whose eight vectors change places by the row's number (PTX ISA, "Shared Memory
// Matrix Layout" of wgmma, K-major and MN-major, with a swizzle of 128 bytes).
// Halves of 32 bytes stay neighbours in it: a copy that takes them apart reads
// each sector of memory twice.
struct StageLayout {
  int lines = 0, depth = 0, bytes = 0;
  bool along_depth = true, swizzled = false;

  // Of a stage: a multiple of 16 bytes.
  int64_t Words() const;
  // The element's number in the stage; i32.
  llvm::Value* Place(DeviceFunction& kernel, llvm::Value* line,
                     llvm::Value* depth_index) const;

  // Of swizzled rows, which hold 64 elements of 2 bytes: along the depth, row r
  // is line r; along the lines, rows of 64 lines follow one another, one for
  // each of the depth.
  static constexpr int kRowBytes = 128, kRow = 64;
  // A pattern repeats after so many rows, and begins at a multiple of them.
  static constexpr int kPatternBytes = 8 * kRowBytes;
  // From a line, a multiple of 64 along the lines, to the one so much further.
  int64_t BytesOfLines(int64_t count) const { return count * kRowBytes; }
  // The same along the depth, of multiples of 16.
  int64_t BytesOfDepth(int64_t count) const {
    return along_depth ? count * bytes : count * kRowBytes;
  }
};

}  // namespace mxc
