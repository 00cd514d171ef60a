// SPDX-License-Identifier: Apache-2.0
// linalg_gemm and linalg_gemm2: products of matrices whose rows lie along any
// axis, composed of dot or batch_dot.
#pragma once

#include <string_view>

#include "ir/ops/op.h"

namespace mxc {

struct GemmAttrs {
  bool transpose_a = false, transpose_b = false;
  double alpha = 1;
  int64_t axis = -2;

  void Describe(Fields& f) {
    f("transpose_a", transpose_a).Doc("the matrices of A are transposed");
    f("transpose_b", transpose_b).Doc("the matrices of B are transposed");
    f("alpha", alpha).Doc("factor of the product");
    f("axis", axis).Doc("the axis of the rows; columns lie along the last");
  }
};

//   C1  A and B have the same rank, at least 2
//   C2  the axes that are neither rows nor columns agree
//   C3  the summed extents agree
//   C4  axis is in range, and not the last
void GemmTypes(const GemmAttrs& attrs, TypeInference& t);

// alpha · op(A) · op(B).
Value GemmProduct(const GemmAttrs& attrs, const Node& node, GraphBuilder& b);

// The gradients of A and B of such a product.
std::vector<Value> GemmGradients(const GemmAttrs& attrs, GradientBuilder& g);
// value · factor, or value itself when factor is 1.
Value Scaled(GraphBuilder& b, Value value, double factor,
             std::string_view role);

}  // namespace mxc
