// SPDX-License-Identifier: Apache-2.0
// Sums of products: what dot, batch_dot and the linear algebra share.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

// MXNet's wish for the storage of an output. All tensors are dense here.
enum class StorageType : int { kNone, kDefault, kRowSparse, kCsr };
inline const std::vector<std::string_view> kStorageTypes = {
    "None", "default", "row_sparse", "csr"};

// Σ a(k) · b(k) for k < extent, where `factors` gives a and b. Halves are
// multiplied in f32.
Expr SumOfProducts(
    const Expr& extent,
    const std::function<std::pair<Expr, Expr>(const Expr& k)>& factors);

// Of operands of rank 2, [rows, K] · [K, columns], or of rank 3 with a leading
// batch axis; a transposed operand has its last two axes exchanged.
Contraction MatrixContraction(const Definition& def, bool transpose_a,
                              bool transpose_b);

// op(left) · op(right): dot of matrices, batch_dot of more axes than two.
Value ProductOf(GraphBuilder& b, Value left, Value right,
                bool transpose_left = false, bool transpose_right = false,
                std::string_view role = "");

// The gradients of ProductOf(a, b), which are such products, too. Only those
// that are needed of inputs 0 and 1.
std::vector<Value> ProductGradients(GradientBuilder& g, Value a, Value b,
                                    Value head, bool transpose_a,
                                    bool transpose_b);
// The types of such a product for operands of any rank from 2 on with equal
// leading axes.
//   C1  both have the same rank, at least `least_rank`
//   C2  the leading extents agree
//   C3  the summed extents agree
void MatrixProductTypes(TypeInference& t, bool transpose_a, bool transpose_b,
                        int least_rank);

}  // namespace mxc
