// SPDX-License-Identifier: Apache-2.0
// What Pooling and its gradient share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/ops/nn/spatial/spatial.h"
#include "ir/ops/op.h"

namespace mxc {

enum class PoolType : int { kMax, kAvg, kSum, kLp };
enum class PoolingConvention : int { kFull, kValid, kSame };

struct PoolingAttrs {
  Extents kernel = {}, stride = {}, pad = {};
  PoolType pool_type = PoolType::kMax;
  PoolingConvention pooling_convention = PoolingConvention::kValid;
  bool global_pool = false;
  std::optional<bool> count_include_pad = {};
  std::optional<int64_t> p_value = {};
  bool cudnn_off = false;
  std::string layout = "None";

  void Describe(Fields& f);
  SpatialAxes axes(int data_rank) const {
    return {data_rank - 2, IsChannelsLast(layout)};
  }
};
MXC_ATTRS(Pooling, PoolingAttrs);
MXC_ATTRS(PoolingArgmax, PoolingAttrs);

// The number of windows along spatial axis d, where data has `extent` cells.
int64_t PoolingExtent(const PoolingAttrs& a, int d, int64_t extent);

// The cells of `data` that one element of `output` is made of.
struct PoolingWindow {
  std::vector<Expr> begin, end;  // clipped to the image
  Expr cells;                    // that an average divides by
  bool may_be_empty = false;
};
PoolingWindow WindowOf(const PoolingAttrs& a, const Shape& data,
                       const Shape& output, const std::vector<Expr>& index);

// One spatial axis: windows of `kernel` cells, the first at −pad.
struct PoolingAxis {
  int64_t kernel = 1, stride = 1, pad = 0, windows = 1;
};
// Axis d, 0 … of `data`.
PoolingAxis AxisOf(const PoolingAttrs& a, const Shape& data,
                   const Shape& output, int d);

// The sum of `term` over all windows that a cell of the image lies in, given
// the window and the cell's position in it, both by axis. `zero` is of its
// type.
Expr SumOverWindows(
    const std::vector<PoolingAxis>& axes, const std::vector<Expr>& position,
    const Expr& zero,
    const std::function<Expr(const std::vector<Expr>& window,
                             const std::vector<Expr>& offset)>& term);

}  // namespace mxc
