// SPDX-License-Identifier: Apache-2.0
// _np_diag: a diagonal of a matrix, or the matrix with a given diagonal.
// C1, C2: see np_diagonal.h
// C3  data have 1 or 2 axes
#include <cstdlib>

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/numpy/shape/np_diagonal.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/diag.h"

namespace mxc {
namespace {

struct NpDiagAttrs {
  int64_t k = 0;

  void Describe(Fields& f) {
    f("k", k).Range(-1e9, 1e9).Doc("the diagonal; positive: above the main");
  }
};

void NpDiagTypes(const NpDiagAttrs& a, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const Shape& in = t.In(0);
  if (!t.Require(in.rank() == 1 || in.rank() == 2,
                 "C3: data have {} axes, expected 1 or 2", in.rank())) {
    return;
  }
  if (in.rank() == 2) return NpDiagonalShape({.offset = a.k}, t, true);
  const int64_t n = in[0] + std::abs(a.k);
  t.SetOut(0, Shape{n, n});
}

std::vector<Value> NpDiagParts(const NpDiagAttrs& a, const Node& node,
                               GraphBuilder& b) {
  return {b.Op<op::Diag>(node.inputs, {.k = a.k})};
}

}  // namespace

MXC_OP(NpDiag) {
  return Op<NpDiagAttrs>("_np_diag")
      .Doc("numpy.diag")
      .Types(NpDiagTypes)
      .Decompose(NpDiagParts);
}

}  // namespace mxc
