// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/stage_layout.h"

#include <utility>

namespace mxc {
namespace {

using llvm::Value;

// Beyond a line along the depth, and, in elements, beyond the lines of one depth.
constexpr int kDepthGapBytes = 16, kLineGap = 8;

}  // namespace

int64_t StageLayout::Words() const {
  if (swizzled) return int64_t{lines} * depth * bytes / 4;
  if (along_depth) return int64_t{lines} * (depth * bytes + kDepthGapBytes) / 4;
  return int64_t{depth} * (lines + kLineGap) * bytes / 4;
}

Value* StageLayout::Place(DeviceFunction& kernel, Value* line,
                          Value* depth_index) const {
  auto& b = kernel.b();
  const auto times = [&](Value* a, int64_t factor) {
    return b.CreateMul(a, kernel.Word(factor));
  };
  Value *far = line, *near = depth_index;
  if (!along_depth) std::swap(far, near);
  if (!swizzled) {
    const int pitch =
        along_depth ? depth + kDepthGapBytes / bytes : lines + kLineGap;
    return b.CreateAdd(times(far, pitch), near);
  }
  constexpr int kVector = 8;  // elements of 16 bytes
  const auto inside = [&](Value* a, int size) {
    return b.CreateAnd(a, kernel.Word(size - 1));
  };
  if (!along_depth) {
    Value* rows_before = times(b.CreateUDiv(near, kernel.Word(kRow)), depth);
    far = b.CreateAdd(far, rows_before);
    near = inside(near, kRow);
  }
  Value* vector = b.CreateXor(b.CreateUDiv(near, kernel.Word(kVector)),
                              inside(far, kPatternBytes / kRowBytes));
  return b.CreateAdd(times(far, kRow), b.CreateAdd(times(vector, kVector),
                                                   inside(near, kVector)));
}

}  // namespace mxc
