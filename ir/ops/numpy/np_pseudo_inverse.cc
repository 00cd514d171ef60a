// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_pseudo_inverse.h"

#include <algorithm>

#include "ir/ops/tensor/factorization.h"

namespace mxc {

void PseudoInverseTypes(TypeInference& t) {
  t.AllSameDType();
  Shape out = t.In(0);
  if (!out.known()) return;
  const int rank = out.rank();
  if (!t.Require(rank >= 2 &&
                     std::min(out[rank - 2], out[rank - 1]) <= kMostTurnedRows,
                 "C1: A has shape {}, expected matrices, of at most {} rows or "
                 "columns",
                 ToString(out), kMostTurnedRows)) {
    return;
  }
  std::swap(out[rank - 2], out[rank - 1]);
  t.SetOut(0, out);
}

Value PseudoInverse(GraphBuilder& b, Value a, Value rcond) {
  const int rank = a.shape().rank();
  const bool tall = a.shape()[rank - 2] > a.shape()[rank - 1];
  const auto parts = b.Ops("_npi_svd", {tall ? Transposed(b, a) : a});
  const Value values = parts[1];
  const Value greatest =
      b.Op("max", {values}, {{"axis", "-1"}, {"keepdims", "True"}});
  const Value counts = b.Greater(values, b.Mul(greatest, rcond));
  const Value inverse =
      b.Where(counts, b.Div(1, values), b.Zeros(values.type()));
  const Value scaled =
      b.Mul(parts[2], b.Op("expand_dims", {inverse}, {{"axis", "-1"}}));
  return tall ? MatrixProduct(b, parts[0], scaled)
              : MatrixProduct(b, scaled, parts[0], true, true);
}

}  // namespace mxc
