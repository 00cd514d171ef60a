// SPDX-License-Identifier: Apache-2.0
// _npi_tensordot_int_axes: the sum over the last `axes` axes of a and the first
// ones of b.
// C1, C2: see np_tensordot.h
// C3  both have so many axes
#include "ir/ops/numpy/linalg/np_tensordot.h"
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct NpiTensordotIntAxesAttrs {
  int64_t axes = 2;

  void Describe(Fields& f) {
    f("axes", axes).Required().Range(0, 64).Doc("how many axes are summed");
  }

  // The last of a tensor with `rank` axes.
  Extents Last(int rank) const {
    Extents last;
    for (int64_t k = 0; k < axes; ++k) last.push_back(rank - axes + k);
    return last;
  }
};

void NpiTensordotIntAxesTypes(const NpiTensordotIntAxesAttrs& a,
                              TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known() || !t.In(1).known()) return;
  if (!t.Require(a.axes <= t.In(0).rank() && a.axes <= t.In(1).rank(),
                 "C3: {} axes of {} and {} are summed", a.axes,
                 ToString(t.In(0)), ToString(t.In(1)))) {
    return;
  }
  TensordotShape(t, a.Last(t.In(0).rank()), AllAxes(static_cast<int>(a.axes)));
}

std::vector<Value> NpiTensordotIntAxesParts(const NpiTensordotIntAxesAttrs& a,
                                            const Node& node, GraphBuilder& b) {
  return {Tensordot(b, node, a.Last(node.inputs[0].shape().rank()),
                    AllAxes(static_cast<int>(a.axes)))};
}

}  // namespace

MXC_OP(NpiTensordotIntAxes) {
  return Op<NpiTensordotIntAxesAttrs>("_npi_tensordot_int_axes")
      .Doc("numpy.tensordot over the last axes of a and the first of b")
      .Inputs({{"a", InputKind::kData}, {"b", InputKind::kData}})
      .Types(NpiTensordotIntAxesTypes)
      .Decompose(NpiTensordotIntAxesParts);
}

}  // namespace mxc
