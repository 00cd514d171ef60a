// SPDX-License-Identifier: Apache-2.0
// Triangles of square matrices: as a row (of a lower one its rows from the
// first to the last, of an upper one its columns), and as a factor.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

struct TriangleAttrs {
  int64_t offset = 0;
  bool lower = true;

  void Describe(Fields& f) {
    f("offset", offset)
        .Range(-1e9, 1e9)
        .Doc("the diagonal that bounds the triangle; not 0: decides the side");
    f("lower", lower).Doc("for offset 0: the lower triangle, else the upper");
  }

  bool is_lower() const { return offset < 0 || (offset == 0 && lower); }
};
MXC_ATTRS(LinalgExtracttrian, TriangleAttrs);
MXC_ATTRS(LinalgMaketrian, TriangleAttrs);

// C1  A holds square matrices
// C2  |offset| < n: there is such a diagonal
bool RequireDiagonal(const Shape& a, int64_t offset, TypeInference& t);

// The elements of a triangle with `rows` rows.
int64_t TriangleSize(int64_t rows);

// op(A), the triangle of A or its transpose, as the left factor of a product or
// the right one.
struct Triangular {
  bool transpose = false, rightside = false, lower = true;
};

// Of _linalg_trmm and _linalg_trsm.
struct TriangularAttrs : Triangular {
  double alpha = 1;

  void Describe(Fields& f) {
    f("transpose", transpose).Doc("A is transposed");
    f("rightside", rightside).Doc("A is the right factor");
    f("lower", lower).Doc("the lower triangle of A counts, else the upper");
    f("alpha", alpha).Doc("factor of the output");
  }
};
MXC_ATTRS(LinalgTrmm, TriangularAttrs);

// Returns whether two shapes have one rank, at least 2, and equal leading
// extents.
bool SameBatch(const Shape& a, const Shape& b);

// Square matrices with zeros beside the lower or the upper triangle.
Value TriangleOnly(GraphBuilder& b, Value value, bool lower);

}  // namespace mxc
