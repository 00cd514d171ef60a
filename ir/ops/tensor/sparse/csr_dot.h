// SPDX-License-Identifier: Apache-2.0
// Products with a matrix of which few elements are not zero (ir/graph/csr_form.h).
#pragma once

#include <cstdint>

#include "ir/graph/builder.h"
#include "ir/graph/csr_form.h"
#include "ir/ops/operators.h"

namespace mxc {

struct CsrScatterAttrs {
  int64_t columns = 0;

  void Describe(Fields& f) {
    f("columns", columns).Required().Min(1).Doc("of the matrix");
  }
};
MXC_ATTRS(CsrScatter, CsrScatterAttrs);

// The types of indices, values and a dense rhs, which products with a csr matrix
// have in common (C1, and of C2 that rhs has two axes); false where shapes are
// unknown or wrong.
bool CsrOperandTypes(TypeInference& t);

// matrix · rhs, and the transpose of the matrix · rhs.
Value CsrDotOf(GraphBuilder& b, const CsrForm& matrix, Value rhs);
Value CsrScatterOf(GraphBuilder& b, const CsrForm& matrix, Value rhs);
// values'[n, k] = Σ_j left[n, j] · right[indices[n, k], j]: the gradient of the
// matrix's elements in both.
Value CsrElementsOf(GraphBuilder& b, Value indices, Value left, Value right);

}  // namespace mxc
