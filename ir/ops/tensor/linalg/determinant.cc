// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/linalg/determinant.h"

#include "ir/ops/tensor/reduction/reduction.h"

namespace mxc {

void DeterminantTypes(TypeInference& t) {
  t.AllSameDType();
  if (!RequireSquare(t, "C1", 0, kMostUnrolled)) return;
  Extents dims(t.In(0).dims().begin(), t.In(0).dims().end() - 2);
  if (dims.empty()) dims.push_back(1);
  for (int i = 0; i < t.outputs(); ++i) t.SetOut(i, Shape(dims));
}

Value EliminatedDiagonal(GraphBuilder& b, Value a) {
  return b.Op<op::LinalgExtractdiag>({Eliminate(b, a, Singular::kZero)});
}

Value SumOfPivots(GraphBuilder& b, Value diagonal) {
  return b.Op<op::Sum>({diagonal}, {.axis = Extents{-1}});
}

Value ProductOfPivots(GraphBuilder& b, Value diagonal) {
  return b.Op<op::Prod>({diagonal}, {.axis = Extents{-1}});
}

Value TimesInverseTransposed(GradientBuilder& g, Value factor) {
  const Shape& a = g.In(0).shape();
  Extents dims(a.dims().begin(), a.dims().end() - 2);
  dims.insert(dims.end(), {1, 1});
  const Value inverse = g.Op<op::LinalgInverse>({g.In(0)});
  return g.Mul(Transposed(g, inverse), g.Reshape(factor, dims));
}

}  // namespace mxc
