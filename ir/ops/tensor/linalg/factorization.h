// SPDX-License-Identifier: Apache-2.0
// Factorizations of matrices, batched over the leading axes. Small ones are
// unrolled, one node, or two, for each row, so that the artifact needs nobody;
// larger ones are LAPACK's, which the artifact imports.
#pragma once

#include "ir/ops/op.h"
#include "ir/ops/tensor/linalg/triangle.h"

namespace mxc {

// Rows of the largest matrices that are unrolled.
inline constexpr int64_t kMostUnrolled = 64;

// Rows of the largest matrices that are factorized: LAPACK's integers, of 32
// bits, still count the elements of such a square matrix.
inline constexpr int64_t kMostRows = 1 << 15;

// Rows of the largest matrices whose singular values are found: pairs of rows are
// turned by one task.
inline constexpr int64_t kMostTurnedRows = 512;

// Input `i` holds square matrices, of at most `most` rows; reports a violation
// as `label`. False while the shape is not known.
bool RequireSquare(TypeInference& t, std::string_view label, int i = 0,
                   int64_t most = kMostRows);
// Returns whether the matrices of `value` have more rows than are unrolled.
bool IsLarge(Value value, int64_t most = kMostUnrolled);

// The matrices of `value` transposed.
Value Transposed(GraphBuilder& b, Value value);
// Products of equally many matrices, of any rank from 2 on.
Value MatrixProduct(GraphBuilder& b, Value left, Value right,
                    bool transpose_left = false, bool transpose_right = false);
// Symmetric matrices with the lower triangles of `value`.
Value Mirrored(GraphBuilder& b, Value value);
// Identity matrices of the type of `like`.
Value Identities(GraphBuilder& b, const TensorType& like);

// Solves op(A) · X = B, or X · op(A) = B with rightside (_linalg_trsm).
Value SolveTriangular(GraphBuilder& b, Value a, Value right,
                      const Triangular& how);

// Gauss and Jordan's elimination with row pivoting of [A] or [A | B], in the
// first n columns: D, or [D | D · A⁻¹ · B], where D is diagonal with the
// determinant of A. Where A is singular, D · A⁻¹ · B is no number, and D
// neither, unless it is asked for: then it has a 0.
enum class Singular { kNoNumber, kZero };
Value Eliminate(GraphBuilder& b, Value matrix, Singular singular);
// A⁻¹ · B, of f[…, n, n] and f[…, n, m].
Value SolveByElimination(GraphBuilder& b, Value a, Value right);

}  // namespace mxc
