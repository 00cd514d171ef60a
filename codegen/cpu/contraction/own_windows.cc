// SPDX-License-Identifier: Apache-2.0
// Windows of a channel's own positions by units: in pairs of the kernel's rows
// (kOwnGroup), or several columns at once (kOwnDots).
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

// Of a single vector of channels: position by position, so that each is loaded,
// and its lanes exchanged, once for all rows of pixels that meet it.
void MicroKernel::AddOwnDots(const Steps& steps, llvm::Value* data,
                             llvm::Value* weight, llvm::Value** sums) {
  const ProductUnit& unit = nest_.unit;
  const auto add = [&](int64_t i, llvm::Value* x, llvm::Value* w) {
    sums[i] = EmitDots(kernel_, unit, sums[i], x, w);
  };
  Accumulators weights;
  std::map<int64_t, std::vector<Use>> positions;
  for (int64_t row = 0; row < steps.rows.extent; ++row) {
    for (int64_t i = 0; i < steps.unroll; ++i) {
      const auto tap = static_cast<int64_t>(weights.size());
      const int64_t offset =
          row * steps.rows.weight_stride + i * steps.row_stride;
      weights.push_back(
          LoadWeightDots(kernel_, unit, At(weight, offset, unit.weight)));
      for (int64_t pixel = 0; pixel < shape_.pixels(); ++pixel) {
        positions[PixelOffset(pixel) + row * steps.rows.data_stride +
                  i * steps.stride]
            .push_back({pixel, tap});
      }
    }
  }
  for (llvm::Value* w : weights) {
    if (added_to_data_ != nullptr) add(shape_.pixels(), added_to_data_, w);
  }
  for (const auto& [offset, uses] : positions) {
    llvm::Value* x = LoadDataTaps(kernel_, unit, At(data, offset, unit.data),
                                  added_to_data_);
    for (const Use& use : uses) add(use.pixel, x, weights[use.tap]);
  }
}

}  // namespace mxc::contraction
