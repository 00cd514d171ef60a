// SPDX-License-Identifier: Apache-2.0
// squeeze: drops axes of extent 1, all of them when none is named. At least one
// axis remains.
// C1  axes are in range and distinct
// C2  a named axis has extent 1
#include "ir/ops/tensor/shape/squeeze.h"

#include <algorithm>

#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/view.h"

namespace mxc {
namespace {

// The axes to drop; nullopt if they do not follow yet or are illegal.
std::optional<Extents> SqueezedAxes(const SqueezeAttrs& attrs,
                                    TypeInference& t) {
  const Shape& in = t.In(0);
  if (attrs.axis) {
    const auto axes = RequireAxes(t, "C1", *attrs.axis, in.rank());
    if (!axes) return std::nullopt;
    for (const int64_t axis : *axes) {
      const int64_t extent = in[static_cast<int>(axis)];
      t.Require(extent == 1 || extent == Shape::kUnknownDim,
                "C2: axis {} has extent {}, expected 1", axis, extent);
    }
    return axes;
  }
  if (!in.known()) return std::nullopt;
  Extents axes;
  for (int axis = 0; axis < in.rank(); ++axis) {
    if (in[axis] == 1) axes.push_back(axis);
  }
  return axes;
}

}  // namespace

void SqueezeTypes(const SqueezeAttrs& attrs, TypeInference& t, int least_rank) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const auto dropped = SqueezedAxes(attrs, t);
  if (!dropped) return;
  Extents dims;
  for (int axis = 0; axis < t.In(0).rank(); ++axis) {
    const bool drop = std::ranges::binary_search(*dropped, axis);
    if (!drop) dims.push_back(t.In(0)[axis]);
  }
  if (dims.empty()) dims.resize(static_cast<size_t>(least_rank), 1);
  t.SetOut(0, Shape(dims));
}

MXC_OP(Squeeze) {
  return Op<SqueezeAttrs>("squeeze")
      .Doc("drops axes of extent 1")
      .Types([](const SqueezeAttrs& attrs, TypeInference& t) {
        SqueezeTypes(attrs, t, 1);
      })
      .Meaning([](const SqueezeAttrs&, Definition& def) { ViewMeaning(def); })
      .View()
      .Gradient(kViewGradient);
}

}  // namespace mxc
