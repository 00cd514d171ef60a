// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/operators/windows.h"

#include <algorithm>

#include "ir/ops/tensor/create/full.h"
#include "ir/ops/tensor/shape/pad.h"

namespace mxc::onnx {
Extents WindowEntries(Call& c, std::string_view name, size_t count,
                      int64_t least, int64_t otherwise) {
  constexpr int64_t kMost = int64_t{1} << 31;
  Extents entries = c.Ints(name).value_or(Extents());
  if (entries.empty()) return Extents(count, otherwise);
  c.Require(entries.size() == count, "{} {} has not {} entries", name,
            TupleText(entries), count);
  for (const int64_t entry : entries) {
    c.Require(entry >= least && entry < kMost, "{} {} has the entry {}", name,
              TupleText(entries), entry);
  }
  return entries;
}

int64_t RoundUp(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : 0; }

bool Windows::dilated() const {
  return std::ranges::any_of(dilation, [](int64_t d) { return d != 1; });
}

Windows WindowsOf(Call& c, const Extents& kernel, bool pools) {
  const Shape& x = c.ShapeOf(0);
  const size_t count = kernel.size();
  c.Require(count >= 1 && x.rank() == static_cast<int>(count) + 2,
            "data has {} axes, expected {} for the kernel {}", x.rank(),
            count + 2, TupleText(kernel));
  for (const int64_t size : kernel) {
    c.Require(size > 0 && size < (int64_t{1} << 31),
              "kernel {} is not positive", TupleText(kernel));
  }
  Windows w;
  w.kernel = kernel;
  w.stride = WindowEntries(c, "strides", count, 1, 1);
  w.dilation = WindowEntries(c, "dilations", count, 1, 1);
  const Extents pads = WindowEntries(c, "pads", 2 * count, 0, 0);
  w.before.assign(pads.begin(), pads.begin() + static_cast<int64_t>(count));
  w.after.assign(pads.begin() + static_cast<int64_t>(count), pads.end());
  enum { kNotSet, kUpper, kLower, kValid };
  const int same = c.OneOf(
      "auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}, kNotSet);
  const bool ceil = pools && c.Flag("ceil_mode");
  for (int d = 0; d < w.rank(); ++d) {
    const int64_t extent = x[d + 2], stride = w.stride[d], span = w.span(d);
    if (same == kUpper || same == kLower) {
      const int64_t positions = RoundUp(extent, stride);
      const int64_t total =
          std::max<int64_t>(0, (positions - 1) * stride + span - extent);
      w.before[d] = same == kUpper ? total / 2 : total - total / 2;
      w.after[d] = total - w.before[d];
      w.positions.push_back(positions);
      continue;
    }
    if (same == kValid) w.before[d] = w.after[d] = 0;
    const int64_t room = extent + w.before[d] + w.after[d] - span;
    c.Require(room >= 0, "a window of {} does not fit into {} and its pads",
              span, extent);
    int64_t positions = (ceil ? RoundUp(room, stride) : room / stride) + 1;
    if (ceil && (positions - 1) * stride >= extent + w.before[d]) --positions;
    w.positions.push_back(positions);
  }
  return w;
}

Value PadAround(Call& c, Value x, const Extents& before, const Extents& after,
                double value) {
  Extents places = {0, 0}, ends = {x.shape()[0], x.shape()[1]};
  Extents dims = ends;
  bool grows = false;
  for (size_t d = 0; d < before.size(); ++d) {
    const auto axis = static_cast<int>(d) + 2;
    const int64_t extent = x.shape()[axis];
    const int64_t first = std::max<int64_t>(0, -before[d]);
    const int64_t last = extent - std::max<int64_t>(0, -after[d]);
    c.Require(first < last, "pads leave nothing of axis {}", axis);
    if (first > 0 || last < extent) x = c.SliceAxis(x, axis, first, last);
    places.push_back(std::max<int64_t>(0, before[d]));
    ends.push_back(places.back() + last - first);
    dims.push_back(ends.back() + std::max<int64_t>(0, after[d]));
    grows = grows || before[d] > 0 || after[d] > 0;
  }
  if (!grows) return x;
  if (dims.size() == 4 || dims.size() == 5) {
    Extents widths;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      widths.push_back(places[axis]);
      widths.push_back(dims[axis] - ends[axis]);
    }
    return c.Op<op::Pad>({x}, {.mode = PadMode::kConstant,
                               .pad_width = widths,
                               .constant_value = value});
  }
  FullAttrs frame;
  frame.shape = dims;
  frame.dtype = x.type().dtype;
  frame.value = value;
  return c.Overwritten(c.Op<op::Full>({}, frame), x, places);
}

}  // namespace mxc::onnx
