// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of symmetric matrices, ascending, and their eigenvectors in
// columns, by _linalg_syevd.
//   A  f[…, n, n], of which the triangle UPLO counts
//   w  f[…, n]     v  f[…, n, n]
// C1  A holds square matrices
// No gradient, as in MXNet 1.9.1.
#pragma once

#include <string>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

struct EigenAttrs {
  std::string triangle = "L";

  void Describe(Fields& f) {
    f("UPLO", triangle).OneOf({"L", "U"}).Doc("the triangle that counts");
  }
};

// Of output 0; false while A's shape is not known.
bool EigenvalueTypes(TypeInference& t);
// [w, v]
std::vector<Value> Eigen(const EigenAttrs& attrs, const Node& node,
                         GraphBuilder& b);

}  // namespace mxc
