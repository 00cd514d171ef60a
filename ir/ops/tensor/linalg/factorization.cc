// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/linalg/factorization.h"

#include "ir/ops/tensor/control/call.h"
#include "ir/ops/tensor/linalg/eliminate.h"
#include "ir/ops/tensor/linalg/pivot.h"
#include "ir/ops/tensor/linalg/products.h"
#include "ir/ops/tensor/linalg/substitute.h"
#include "ir/ops/tensor/linalg/triangle.h"
#include "ir/ops/tensor/shape/expand_dims.h"
#include "ir/ops/tensor/shape/swap_axis.h"

namespace mxc {

bool RequireSquare(TypeInference& t, std::string_view label, int i,
                   int64_t most) {
  const Shape& a = t.In(i);
  if (!a.known()) return false;
  const int rank = a.rank();
  return t.Require(rank >= 2 && a[rank - 2] == a[rank - 1],
                   "{}: input {} has shape {}, expected square matrices", label,
                   i, ToString(a)) &&
         t.Require(a[rank - 1] <= most,
                   "{}: matrices of {} rows are not supported, at most {}",
                   label, a[rank - 1], most);
}

bool IsLarge(Value value, int64_t most) {
  const Shape& shape = value.shape();
  return shape[shape.rank() - 2] > most;
}

Value Transposed(GraphBuilder& b, Value value) {
  return b.Op<op::SwapAxis>({value}, {.dim1 = -2, .dim2 = -1});
}

Value MatrixProduct(GraphBuilder& b, Value left, Value right,
                    bool transpose_left, bool transpose_right) {
  return ProductOf(b, left, right, transpose_left, transpose_right);
}

Value Mirrored(GraphBuilder& b, Value value) {
  const Value lower = TriangleOnly(b, value, true);
  const Value diagonal =
      b.Op<op::LinalgMakediag>({b.Op<op::LinalgExtractdiag>({value})});
  return b.Op<op::ElemwiseSub>(
      {b.Op<op::ElemwiseAdd>({lower, Transposed(b, lower)}), diagonal});
}

Value Identities(GraphBuilder& b, const TensorType& like) {
  const Extents& dims = like.shape.dims();
  const Extents diagonal(dims.begin(), dims.end() - 1);
  return b.Op<op::LinalgMakediag>({b.Ones({like.dtype, Shape(diagonal)})});
}

Value SolveTriangular(GraphBuilder& b, Value a, Value right,
                      const Triangular& how) {
  if (IsLarge(a)) {
    return CallOf(b, "trsm",
                  fmt::format("lower={:d} transpose={:d} rightside={:d}",
                              how.lower, how.transpose, how.rightside),
                  {a, right}, {right.shape()})[0];
  }
  const int64_t rows = a.shape().dims().back();
  // The system with the unknowns as rows is M · X = B, M = A or Aᵀ.
  const bool swapped = how.transpose != how.rightside;
  const bool forward = how.lower != swapped;
  Value x = right;
  for (int64_t k = 0; k < rows; ++k) {
    x = b.Op<op::Substitute>({a, x}, {.row = forward ? k : rows - 1 - k,
                                      .forward = forward,
                                      .transpose = swapped,
                                      .rightside = how.rightside});
  }
  return x;
}

Value Eliminate(GraphBuilder& b, Value matrix, Singular singular) {
  const Shape shape = matrix.shape();
  const int64_t rows = shape[shape.rank() - 2];
  for (int64_t k = 0; k < rows; ++k) {
    const Value pivot = b.Op<op::Pivot>({matrix}, {.row = k});
    matrix = b.Op<op::Eliminate>(
        {matrix, pivot},
        {.row = k, .passes_zeros = singular == Singular::kZero});
  }
  return matrix;
}

Value SolveByElimination(GraphBuilder& b, Value a, Value right) {
  const int last = a.shape().rank() - 1;
  const int64_t n = a.shape()[last];
  const Value reduced =
      Eliminate(b, b.Concat({a, right}, last), Singular::kNoNumber);
  const auto columns = [&](int64_t begin, int64_t end) {
    return b.SliceAxis(reduced, last, begin, end);
  };
  const Value pivots = b.Op<op::LinalgExtractdiag>({columns(0, n)});
  return b.Div(columns(n, n + right.shape()[last]),
               b.Op<op::ExpandDims>({pivots}, {.axis = -1}));
}

}  // namespace mxc
