// SPDX-License-Identifier: Apache-2.0
// Which layouts the chosen kernels of a program work on.
#pragma once

#include <optional>
#include <vector>

#include "ir/program/kernel_catalog.h"
#include "ir/program/program.h"
#include "passes/step_uses.h"

namespace mxc {

// A block on one axis, and the border that a reader needs at least.
struct Blocking {
  int axis = 0;
  int64_t block = 1;  // kWholeAxis: the axis is the innermost one
  Extents low, high;  // for each axis of the tensor

  bool is_whole() const { return block == kWholeAxis; }
  bool SameBlock(const Blocking& other) const {
    return block == other.block && (block == 1 || axis == other.axis);
  }
  void Cut(int at, int64_t into) {
    axis = into != 1 ? at : 0;
    block = into;
  }
  void Enclose(const Blocking& other) {
    for (size_t a = 0; a < low.size(); ++a) {
      low[a] = std::max(low[a], other.low[a]);
      high[a] = std::max(high[a], other.high[a]);
    }
  }
  // Of a tensor of that shape.
  Layout For(const Shape& shape) const {
    const Layout layout = is_whole() ? Layout::AxisLast(shape, axis)
                                     : Layout::Blocked(shape, axis, block);
    return layout.WithHalo(low, high);
  }
};

// No block and no border.
Blocking PlainBlocking(int rank);

// Of the steps as they are when this is made; the program must outlive it.
class KernelDemands {
 public:
  KernelDemands(Program& program, const KernelCatalog& catalog);

  // The kernel that a step has, if it has one.
  const std::optional<KernelCandidate>& KernelOf(int step) const {
    return candidates_[static_cast<size_t>(step)];
  }
  const StepUses& uses() const { return uses_; }

  // What the kernel of a step asks of its data; of its weight, if it takes it
  // as other steps leave it; and in which blocks it writes its result.
  Blocking OnData(int step) const;
  Blocking OnWeight(int step) const;
  Blocking OfResult(int step) const;
  // The demands of all kernels that read `buffer` as an activation, first as
  // their data: those may ask for a border.
  std::vector<Blocking> On(int buffer) const;

 private:
  int RankOf(int buffer) const {
    return program_.buffers[buffer].type.shape.rank();
  }

  const Program& program_;
  const StepUses uses_;
  std::vector<std::optional<KernelCandidate>> candidates_;  // by step
};

}  // namespace mxc
