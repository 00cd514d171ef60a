// SPDX-License-Identifier: Apache-2.0
// _np_diagflat: the matrix with the elements of data in a diagonal.
#include <cstdlib>

#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/diag.h"

namespace mxc {
namespace {

struct NpDiagflatAttrs {
  int64_t k = 0;

  void Describe(Fields& f) {
    f("k", k).Range(-1e9, 1e9).Doc("the diagonal; positive: above the main");
  }
};

void NpDiagflatTypes(const NpDiagflatAttrs& a, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const int64_t n = t.In(0).elements() + std::abs(a.k);
  t.SetOut(0, Shape{n, n});
}

std::vector<Value> NpDiagflatParts(const NpDiagflatAttrs& a, const Node& node,
                                   GraphBuilder& b) {
  return {b.Op<op::Diag>({Flattened(b, node.inputs[0])}, {.k = a.k})};
}

}  // namespace

MXC_OP(NpDiagflat) {
  return Op<NpDiagflatAttrs>("_np_diagflat")
      .Doc("numpy.diagflat")
      .Types(NpDiagflatTypes)
      .Decompose(NpDiagflatParts);
}

}  // namespace mxc
