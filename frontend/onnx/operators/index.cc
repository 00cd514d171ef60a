// SPDX-License-Identifier: Apache-2.0
// What picks elements by their places.
#include "frontend/onnx/call.h"

namespace mxc::onnx {

void ImportGather(Call& c) {
  const int axis = c.Axis(c.Int("axis", 0), c.RankOf(0));
  const Value data = c.In(0);
  const int64_t extent = data.shape()[axis];
  if (const auto known = c.Known(1)) {
    for (int64_t i = 0; i < known->shape().elements(); ++i) {
      const auto at = static_cast<int64_t>(known->ExactAt(i));
      c.Require(at >= -extent && at < extent,
                "index {} is out of the {} elements of axis {}", at, extent,
                axis);
    }
    if (Call::IsEmpty(known->shape())) {
      Extents dims = data.shape().dims();
      dims.erase(dims.begin() + axis);
      dims.insert(dims.begin() + axis, known->shape().dims().begin(),
                  known->shape().dims().end());
      return c.GiveEmpty(data.type().dtype, dims);
    }
  }
  // wrap counts negative ones from the end.
  c.Give(0, c.Op("take", {data, c.In(1)},
                 {{"axis", std::to_string(axis)}, {"mode", "wrap"}}));
}

}  // namespace mxc::onnx
