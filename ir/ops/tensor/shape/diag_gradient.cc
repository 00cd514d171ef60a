// SPDX-License-Identifier: Apache-2.0
// _diag_gradient: zeros with a given diagonal in two of the axes; our own
// operator, the gradient of diag.
//   head      t[the axes but axis1 and axis2, the diagonal]
//   gradient  t[shape]
// C1  axis1 and axis2 are in range and differ
// C2  head has the shape of that diagonal
#include <algorithm>

#include "ir/ops/op.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/diag_gradient.h"

namespace mxc {
namespace {

void DiagGradientTypes(const DiagGradientAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  const int rank = static_cast<int>(attrs.shape.size());
  const auto rows = RequireAxis(t, "C1", "axis1", attrs.axis1, rank);
  const auto columns = RequireAxis(t, "C1", "axis2", attrs.axis2, rank);
  if (!rows || !columns ||
      !t.Require(*rows != *columns, "C1: axis1 and axis2 are both {}", *rows)) {
    return;
  }
  Extents head;
  for (int axis = 0; axis < rank; ++axis) {
    if (axis != *rows && axis != *columns) head.push_back(attrs.shape[axis]);
  }
  head.push_back(
      std::min(attrs.shape[*rows] - std::max<int64_t>(-attrs.k, 0),
               attrs.shape[*columns] - std::max<int64_t>(attrs.k, 0)));
  if (t.Require(head.back() > 0 && (!t.In(0).known() || t.In(0) == Shape(head)),
                "C2: head has shape {}, expected {}", ToString(t.In(0)),
                ToString(head))) {
    t.SetIn(0, Shape(head));
    t.SetOut(0, Shape(attrs.shape));
  }
}

void DiagGradientMeaning(const DiagGradientAttrs& attrs, Definition& def) {
  const int rank = def.OutShape().rank();
  const int rows = *ResolveAxis(attrs.axis1, rank);
  const int columns = *ResolveAxis(attrs.axis2, rank);
  std::vector<Expr> index;
  for (int axis = 0; axis < rank; ++axis) {
    if (axis != rows && axis != columns) index.push_back(Var(axis));
  }
  index.push_back(Var(rows) - std::max<int64_t>(-attrs.k, 0));
  const Expr on = Var(columns) - Var(rows) == Expr(attrs.k);
  def.Set(0, Select(on, def.In(0, index), def.Lit(0)));
}

}  // namespace

MXC_OP(DiagGradient) {
  return Op<DiagGradientAttrs>("_diag_gradient")
      .Internal()
      .Doc("zeros with a given diagonal")
      .Inputs({{"head", InputKind::kData}})
      .Outputs({"gradient"})
      .Types(DiagGradientTypes)
      .Meaning(DiagGradientMeaning);
}

}  // namespace mxc
