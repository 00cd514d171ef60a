// SPDX-License-Identifier: Apache-2.0
// Windows that slide over the axes behind N and C: of convolutions and pools.
#pragma once

#include "frontend/onnx/call.h"

namespace mxc::onnx {

// One entry for each axis.
struct Windows {
  Extents kernel, stride, dilation;
  Extents before, after;  // pads; never negative
  Extents positions;      // of the output

  int rank() const { return static_cast<int>(kernel.size()); }
  bool dilated() const;
  // Cells that a window covers along an axis, with what it leaves out.
  int64_t span(int axis) const {
    return dilation[axis] * (kernel[axis] - 1) + 1;
  }
  bool symmetric() const { return before == after; }
};

// Reads strides, pads, dilations, auto_pad, and ceil_mode where `pools`, for
// input 0 of shape [N, C, extents…]. With ceil_mode a last window that would
// start beyond the data and the pads before them is left out, as ONNX Runtime
// does at every version.
Windows WindowsOf(Call& c, const Extents& kernel, bool pools);

// The numbers of a list of the node, of which there are `count`, `otherwise` where
// it has none; refuses those that no window has, so that sums of them stay small.
Extents WindowEntries(Call& c, std::string_view name, size_t count,
                      int64_t least, int64_t otherwise);

// a / b, up; 0 where a is negative. b is positive, and a + b is a number.
int64_t RoundUp(int64_t a, int64_t b);

// x [N, C, extents…] with `value` around it; negative pads cut.
Value PadAround(Call& c, Value x, const Extents& before, const Extents& after,
                double value);

// The convolution that the node's attributes say, of x, which has the extents of
// input 0, by `weight`, which has those of input `weight_input`; `bias` may be
// empty.
Value Convolved(Call& c, int weight_input, Value x, Value weight, Value bias);

// The averages that the node's attributes say, of x, which has the shape of
// input 0.
Value AveragePooled(Call& c, Value x);

}  // namespace mxc::onnx
