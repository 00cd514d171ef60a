// SPDX-License-Identifier: Apache-2.0
// _linalg_maketrian: square matrices of which one triangle is given
// (triangle.h); the rest is zero.
//   A  t[…, m (m + 1) / 2]     output  t[…, n, n]     n = m + |offset|
// C1  the last extent of A is that of a triangle
#include <cmath>
#include <cstdlib>

#include "ir/ops/tensor/linalg/triangle.h"

namespace mxc {
namespace {

// The rows of a triangle of `size` elements; 0 if there is none.
int64_t TriangleRows(int64_t size) {
  if (size < 1 || size >= (int64_t{1} << 50)) return 0;
  const double root = std::sqrt(8 * static_cast<double>(size) + 1);
  const auto rows = static_cast<int64_t>((root - 1) / 2);
  return TriangleSize(rows) == size ? rows : 0;
}

void MakeTrianTypes(const TriangleAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  Extents dims = t.In(0).dims();
  const int64_t rows = dims.empty() ? 0 : TriangleRows(dims.back());
  if (!t.Require(rows > 0, "C1: A has shape {}, expected triangles in its rows",
                 ToString(t.In(0)))) {
    return;
  }
  dims.back() = rows + std::abs(attrs.offset);
  dims.push_back(dims.back());
  t.SetOut(0, Shape(dims));
}

void MakeTrianMeaning(const TriangleAttrs& attrs, Definition& def) {
  std::vector<Expr> index = def.Indices();
  const int64_t shift = std::abs(attrs.offset);
  Expr column = index.back();
  index.pop_back();
  Expr row = index.back();
  if (!attrs.is_lower()) std::swap(row, column);
  row = row - shift;
  const Expr inside = row >= 0 && column <= row;
  index.back() = row * (row + 1) / 2 + column;
  def.Set(0, Select(inside, def.In(0, index), def.Lit(0)));
}

}  // namespace

MXC_OP(LinalgMaketrian) {
  return Op<TriangleAttrs>("_linalg_maketrian")
      .Alias({"linalg_maketrian"})
      .Doc("square matrices with a given triangle")
      .Inputs({{"A", InputKind::kData}})
      .Types(MakeTrianTypes)
      .FloatsOnly()
      .Meaning(MakeTrianMeaning)
      .Gradient([](const TriangleAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {g.Op<op::LinalgExtracttrian>(
            {g.Head()}, {.offset = attrs.offset, .lower = attrs.lower})};
      });
}

}  // namespace mxc
