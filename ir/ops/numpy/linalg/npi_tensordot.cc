// SPDX-License-Identifier: Apache-2.0
// _npi_tensordot: the sum over pairs of axes.
// C1, C2: see np_tensordot.h
#include "ir/ops/numpy/linalg/np_tensordot.h"
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct NpiTensordotAttrs {
  Extents a_axes_summed, b_axes_summed;

  void Describe(Fields& f) {
    f("a_axes_summed", a_axes_summed).Required().Doc("axes of a");
    f("b_axes_summed", b_axes_summed).Required().Doc("axes of b");
  }
};

void NpiTensordotTypes(const NpiTensordotAttrs& a, TypeInference& t) {
  t.AllSameDType();
  TensordotShape(t, a.a_axes_summed, a.b_axes_summed);
}

std::vector<Value> NpiTensordotParts(const NpiTensordotAttrs& a,
                                     const Node& node, GraphBuilder& b) {
  return {Tensordot(b, node, a.a_axes_summed, a.b_axes_summed)};
}

}  // namespace

MXC_OP(NpiTensordot) {
  return Op<NpiTensordotAttrs>("_npi_tensordot")
      .Doc("numpy.tensordot over named axes")
      .Inputs({{"a", InputKind::kData}, {"b", InputKind::kData}})
      .Types(NpiTensordotTypes)
      .Decompose(NpiTensordotParts);
}

}  // namespace mxc
