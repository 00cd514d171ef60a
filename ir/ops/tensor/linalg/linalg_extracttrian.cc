// SPDX-License-Identifier: Apache-2.0
// _linalg_extracttrian: a triangle of square matrices in a row (triangle.h).
//   A  t[…, n, n]     output  t[…, m (m + 1) / 2]     m = n - |offset|
// C1  A holds square matrices
// C2  |offset| < n
#include <cstdlib>

#include "ir/ops/tensor/linalg/triangle.h"

namespace mxc {
namespace {

void ExtractTrianTypes(const TriangleAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const Shape& a = t.In(0);
  if (!RequireDiagonal(a, attrs.offset, t)) return;
  Extents dims(a.dims().begin(), a.dims().end() - 1);
  dims.back() = TriangleSize(dims.back() - std::abs(attrs.offset));
  t.SetOut(0, Shape(dims));
}

// The row of the lower triangle that holds `position`: the greatest r with
// r (r + 1) / 2 ≤ position. Exact in f64 up to 2^50.
Expr RowOfPosition(const Expr& position) {
  const Expr root = Sqrt(Cast(position * 8 + 1, DType::kF64));
  return Cast((root - Lit(1, root)) * Lit(0.5, root), DType::kI64);
}

void ExtractTrianMeaning(const TriangleAttrs& attrs, Definition& def) {
  std::vector<Expr> index = def.Indices();
  const int64_t shift = std::abs(attrs.offset);
  const Expr position = index.back();
  Expr row = RowOfPosition(position);
  Expr column = position - row * (row + 1) / 2;
  row = row + shift;
  if (!attrs.is_lower()) std::swap(row, column);
  index.back() = row;
  index.push_back(column);
  def.Set(0, def.In(0, index));
}

}  // namespace

MXC_OP(LinalgExtracttrian) {
  return Op<TriangleAttrs>("_linalg_extracttrian")
      .Alias({"linalg_extracttrian"})
      .Doc("a triangle of square matrices in a row")
      .Inputs({{"A", InputKind::kData}})
      .Types(ExtractTrianTypes)
      .FloatsOnly()
      .Meaning(ExtractTrianMeaning)
      .Gradient([](const TriangleAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {g.Op<op::LinalgMaketrian>(
            {g.Head()}, {.offset = attrs.offset, .lower = attrs.lower})};
      });
}

}  // namespace mxc
