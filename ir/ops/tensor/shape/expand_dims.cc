// SPDX-License-Identifier: Apache-2.0
// expand_dims: a new axis of extent 1.
// C1  -rank - 1 ≤ axis ≤ rank
#include "ir/ops/tensor/shape/expand_dims.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/view.h"

namespace mxc {
namespace {

void ExpandDimsTypes(const ExpandDimsAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (t.In(0).known_rank()) {
    const int rank = t.In(0).rank() + 1;
    const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, rank);
    if (!axis) return;
    Extents dims = t.In(0).dims();
    dims.insert(dims.begin() + *axis, 1);
    t.SetOut(0, Shape(dims));
  }
  if (t.Out(0).known_rank()) {
    const auto axis = RequireAxis(t, "C1", "axis", attrs.axis, t.Out(0).rank());
    if (!axis) return;
    Extents dims = t.Out(0).dims();
    dims.erase(dims.begin() + *axis);
    t.SetIn(0, Shape(dims));
  }
}

}  // namespace

MXC_OP(ExpandDims) {
  return Op<ExpandDimsAttrs>("expand_dims")
      .Alias({"_npi_expand_dims"})
      .Doc("inserts an axis of extent 1")
      .Types(ExpandDimsTypes)
      .Meaning(
          [](const ExpandDimsAttrs&, Definition& def) { ViewMeaning(def); })
      .View()
      .Gradient(kViewGradient);
}

}  // namespace mxc
