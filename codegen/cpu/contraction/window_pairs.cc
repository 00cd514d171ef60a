// SPDX-License-Identifier: Apache-2.0
// Windows of a channel's own positions (kOwnGroup), by a unit of pairs.
#include "codegen/cpu/contraction/dot_unit.h"
#include "codegen/cpu/contraction/micro_kernel.h"

namespace mxc::contraction {

std::map<int64_t, std::vector<MicroKernel::Use>> MicroKernel::UsesOf(
    const Steps& steps) const {
  std::map<int64_t, std::vector<Use>> positions;
  for (int64_t pixel = 0; pixel < shape_.pixels(); ++pixel) {
    for (int64_t tap = 0; tap < steps.unroll; ++tap) {
      positions[PixelOffset(pixel) + tap * steps.stride].push_back(
          {pixel, tap});
    }
  }
  return positions;
}

// Position by position, each with the one that it is multiplied with at once.
void MicroKernel::AddPairs(const Steps& steps, llvm::Value* data,
                           llvm::Value* weight, llvm::Value** sums) {
  const ProductUnit& unit = nest_.unit;
  const auto load = [&](llvm::Value* base, int64_t offset, int64_t second,
                        DType dtype) {
    return LoadPairs(
        kernel_, unit, dtype, At(base, offset, dtype),
        steps.in_pairs() ? At(base, offset + second, dtype) : nullptr);
  };
  Accumulators weights;
  for (int64_t tap = 0; tap < steps.unroll; ++tap) {
    weights.push_back(load(weight, tap * steps.row_stride,
                           steps.second.weight_stride, unit.weight));
  }
  for (const auto& [offset, uses] : UsesOf(steps)) {
    llvm::Value* x = load(data, offset, steps.second.data_stride, unit.data);
    for (const Use& use : uses) {
      llvm::Value*& sum = sums[use.pixel];
      sum = EmitDots(kernel_, unit, sum, x, weights[use.tap]);
    }
  }
}

}  // namespace mxc::contraction
