// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/indexing/np_mask.h"

#include <algorithm>

namespace mxc {

bool RequireMask(int64_t start_axis, TypeInference& t) {
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  const Shape &data = t.In(0), &mask = t.In(1);
  if (!data.known() || !mask.known()) return false;
  bool fits = start_axis + mask.rank() <= data.rank();
  for (int axis = 0; fits && axis < mask.rank(); ++axis) {
    fits = data[static_cast<int>(start_axis) + axis] == mask[axis];
  }
  return t.Require(fits, "C1: mask has shape {} for axes of {} from {} on",
                   ToString(mask), ToString(data), start_axis);
}

Value MaskOverData(int64_t start_axis, const Node& node, GraphBuilder& b) {
  const Extents& mask = node.inputs[1].shape().dims();
  Extents along(static_cast<size_t>(node.types[0].shape.rank()), 1);
  std::ranges::copy(mask, along.begin() + start_axis);
  return b.Reshape(node.inputs[1], Shape(along));
}

}  // namespace mxc
