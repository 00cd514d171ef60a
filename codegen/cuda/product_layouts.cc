// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/product_layouts.h"

#include <vector>

#include "ir/program/role_strides.h"
#include "ir/program/steps/contraction.h"

namespace mxc {
namespace {

// A thread finds out where an element lies and whether it is there, and starts
// the copy: 18 instructions in the PTX of ResNet-50's convolutions of bf16, what
// has 64 bits twice, but an H200 takes as long for it as for 48. What is too small
// for a copy that runs ahead goes through a register, which the thread waits for.
constexpr double kCopyInstructions = 48, kSmallInstructions = 150;
constexpr int kWarpLanes = 32;
// Outputs that are written at once at least.
constexpr int64_t kLeastOutputs = 4;
// Tiles and threads of the usual block.
constexpr int64_t kUsualElements = 1024;
constexpr int kUsualThreads = 128;

// The last axis that is not spatial.
int ChannelsOf(const std::vector<Role>& axes) {
  int channels = 0;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis] < Role::kSpatial0) channels = static_cast<int>(axis);
  }
  return channels;
}

Buffer OperandOf(DType dtype, const Extents& dims,
                 const std::vector<Role>& axes, bool channels_last) {
  Buffer buffer;
  buffer.type = {dtype, Shape(dims)};
  buffer.layout = channels_last
                      ? Layout::AxisLast(buffer.type.shape, ChannelsOf(axes))
                      : Layout::RowMajor(buffer.type.shape);
  return buffer;
}

Buffer DataOf(const Contraction& c, bool channels_last) {
  return OperandOf(c.types.data, DimsOf(c, c.data_axes, c.input), c.data_axes,
                   channels_last);
}

Buffer WeightOf(const Contraction& c, bool channels_last) {
  return OperandOf(c.types.weight, DimsOf(c, c.weight_axes, c.kernel),
                   c.weight_axes, channels_last);
}

// The gradient of a weight sums over images: its operands are activations, and
// its result is as the weight.
bool IsOfWeight(const Contraction& c) {
  return c.data_axes[0] == Role::kIn || c.data_axes[0] == Role::kGroupIn;
}

}  // namespace

ProductReading::ProductReading(const Contraction& c,
                               const ProductLayouts& layouts)
    : dtypes_{c.types.data, c.types.weight},
      form_(FormOf(c, DataOf(c, layouts.data), WeightOf(c, layouts.weight))) {}

int ProductReading::VectorOf(int side, int64_t elements, int threads) const {
  return AccessOf(form_, side, dtypes_[static_cast<size_t>(side)],
                  /*aligned=*/true, elements, threads)
      .vector;
}

double ProductReading::Instructions(int rows, int columns, int depth,
                                    int threads) const {
  double instructions = 0;
  for (const int side : {0, 1}) {
    const int lines = side == 0 ? rows : columns;
    const int vector = VectorOf(side, int64_t{lines} * depth, threads);
    const int64_t bytes = vector * SizeOf(dtypes_[static_cast<size_t>(side)]);
    const double each =
        bytes < kSmallCopy ? kSmallInstructions : kCopyInstructions;
    instructions += each * lines / vector / kWarpLanes;
  }
  return instructions;
}

ProductLayouts ChannelsLast(const Contraction& c) {
  ProductLayouts layouts;
  if (c.kernel.empty()) return layouts;
  const ProductReading plain(c, {}), last(c, {true, true, false});
  const auto vectors = [](const ProductReading& reading, int side) {
    return reading.VectorOf(side, kUsualElements, kUsualThreads);
  };
  const auto is_better = [&](int side) {
    return vectors(last, side) > 1 &&
           vectors(last, side) >= vectors(plain, side);
  };
  layouts.data = is_better(0);
  // With data as they are now.
  const ProductReading weight(c, {layouts.data, true, false});
  layouts.weight = vectors(weight, 1) > 1;
  layouts.output = !IsOfWeight(c) && c.groups * c.out % kLeastOutputs == 0;
  return layouts;
}

void AskFor(const ProductLayouts& layouts, const Contraction& c,
            const Machine& machine, KernelCandidate& candidate) {
  const auto block = [](bool last) { return last ? kWholeAxis : 1; };
  candidate.data_block = block(layouts.data);
  candidate.data_axis = ChannelsOf(c.data_axes);
  candidate.weight_block = block(layouts.weight);
  candidate.weight_axis = ChannelsOf(c.weight_axes);
  candidate.output_block = block(layouts.output);
  candidate.output_axis = ChannelsOf(c.output_axes);
  candidate.any_output = true;
  const Buffer weight = WeightOf(c, layouts.weight);
  if (IsOfWeight(c) || weight.layout.row_major()) return;
  // One launch does so for many of them.
  candidate.packing_cost =
      2 * static_cast<double>(weight.bytes()) / machine.stream_bytes_per_second;
}

double InstructionsPerSecond(const Machine& machine) {
  // Each is a multiply-add of every lane, at most.
  return machine.contraction_flops_per_second / 2 / kWarpLanes;
}

}  // namespace mxc
