// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/stage_layout.h"

#include <utility>

namespace mxc {
namespace {

using llvm::Value;

constexpr int kLineOfCoreBytes = 16, kCoreBytes = 8 * kLineOfCoreBytes;
// Beyond a line along the depth, and, in elements, beyond the lines of one depth.
constexpr int kDepthGapBytes = 16, kLineGap = 8;
// Beyond cores that copies write one after the other.
constexpr int kCoreGapBytes = 16;

}  // namespace

int64_t StageLayout::BytesToNextLines() const {
  return along_depth ? kCoreBytes : kCoreBytes + kCoreGapBytes;
}

int64_t StageLayout::BytesToNextDepth() const {
  const int64_t cores_of_lines = lines / kCore * BytesToNextLines();
  return along_depth ? cores_of_lines + kCoreGapBytes : cores_of_lines;
}

int64_t StageLayout::Words() const {
  if (cores) return depth / kCore * BytesToNextDepth() / 4;
  if (along_depth) return int64_t{lines} * (depth * bytes + kDepthGapBytes) / 4;
  return int64_t{depth} * (lines + kLineGap) * bytes / 4;
}

Value* StageLayout::Place(DeviceFunction& kernel, Value* line,
                          Value* depth_index) const {
  auto& b = kernel.b();
  const auto times = [&](Value* a, int64_t factor) {
    return b.CreateMul(a, kernel.Word(factor));
  };
  if (!cores) {
    Value *far = line, *near = depth_index;
    int pitch = depth + kDepthGapBytes / bytes;
    if (!along_depth) {
      std::swap(far, near);
      pitch = lines + kLineGap;
    }
    return b.CreateAdd(times(far, pitch), near);
  }
  const auto core = [&](Value* a) {
    return b.CreateUDiv(a, kernel.Word(kCore));
  };
  const auto inside = [&](Value* a) {
    return b.CreateAnd(a, kernel.Word(kCore - 1));
  };
  Value* cores_before =
      b.CreateAdd(times(core(line), BytesToNextLines() / bytes),
                  times(core(depth_index), BytesToNextDepth() / bytes));
  Value *far = inside(line), *near = inside(depth_index);
  if (!along_depth) std::swap(far, near);
  return b.CreateAdd(cores_before, b.CreateAdd(times(far, kCore), near));
}

}  // namespace mxc
