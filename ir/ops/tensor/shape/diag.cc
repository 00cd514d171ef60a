// SPDX-License-Identifier: Apache-2.0
// diag: a diagonal of data, or for a vector the matrix with that diagonal.
//   data [n]     → [n + |k|, n + |k|]
//   data [d0, …] → the axes but axis1 and axis2, then the diagonal
// C1  axis1 and axis2 are in range and differ
// C2  data have a diagonal k
#include <algorithm>
#include <cstdlib>

#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/diag.h"
#include "ir/ops/tensor/shape/diag_gradient.h"

namespace mxc {
namespace {

void DiagTypes(const DiagAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const Shape& in = t.In(0);
  if (in.rank() == 1) {
    const int64_t n = in[0] + std::abs(attrs.k);
    t.SetOut(0, Shape{n, n});
    return;
  }
  const auto rows = RequireAxis(t, "C1", "axis1", attrs.axis1, in.rank());
  const auto columns = RequireAxis(t, "C1", "axis2", attrs.axis2, in.rank());
  if (!rows || !columns) return;
  const int64_t length = std::min(in[*rows] - attrs.skipped_rows(),
                                  in[*columns] - attrs.skipped_columns());
  if (!t.Require(*rows != *columns, "C1: axis1 and axis2 are both {}", *rows) ||
      !t.Require(length > 0, "C2: {} has no diagonal {}", ToString(in),
                 attrs.k)) {
    return;
  }
  Extents dims;
  for (int axis = 0; axis < in.rank(); ++axis) {
    if (axis != *rows && axis != *columns) dims.push_back(in[axis]);
  }
  dims.push_back(length);
  t.SetOut(0, Shape(dims));
}

void DiagMeaning(const DiagAttrs& attrs, Definition& def) {
  const int rank = def.InShape(0).rank();
  if (rank == 1) {
    const Expr i = Var(0) - attrs.skipped_rows();
    def.Set(0, Select(Var(1) - Var(0) == Expr(attrs.k), def.In(0, {i}),
                      def.Lit(0)));
    return;
  }
  const int rows = *ResolveAxis(attrs.axis1, rank);
  const int columns = *ResolveAxis(attrs.axis2, rank);
  const Expr along = def.Indices().back();
  std::vector<Expr> index;
  int kept = 0;
  for (int axis = 0; axis < rank; ++axis) {
    index.push_back(axis == rows      ? along + attrs.skipped_rows()
                    : axis == columns ? along + attrs.skipped_columns()
                                      : Var(kept++));
  }
  def.Set(0, def.In(0, index));
}

std::vector<Value> DiagGradient(const DiagAttrs& attrs, GradientBuilder& g) {
  const Shape& in = g.In(0).shape();
  if (in.rank() == 1) return {g.Op<op::Diag>({g.Head()}, {.k = attrs.k})};
  return {g.Op<op::DiagGradient>({g.Head()}, {.shape = in.dims(),
                                              .k = attrs.k,
                                              .axis1 = attrs.axis1,
                                              .axis2 = attrs.axis2})};
}

}  // namespace

MXC_OP(Diag) {
  return Op<DiagAttrs>("diag")
      .Doc("a diagonal, or the matrix with a given diagonal")
      .Types(DiagTypes)
      .Meaning(DiagMeaning)
      .Gradient(DiagGradient);
}

}  // namespace mxc
