// SPDX-License-Identifier: Apache-2.0
// _npi_diff: differences of neighbours along an axis.
// C1  axis is in range
// C2  there are more than n elements along it
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct NpiDiffAttrs {
  int64_t n = 1;
  int64_t axis = -1;

  void Describe(Fields& f) {
    f("n", n).Range(0, 64).Doc("how often differences are taken");
    f("axis", axis).Doc("the axis along which neighbours are subtracted");
  }
};

void NpiDiffTypes(const NpiDiffAttrs& a, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const auto axis = RequireAxis(t, "C1", "axis", a.axis, t.In(0).rank());
  if (!axis || !t.In(0).known(*axis)) return;
  Shape out = t.In(0);
  out[*axis] -= a.n;
  if (t.Require(out[*axis] > 0, "C2: an extent of {} has no {}-th differences",
                t.In(0)[*axis], a.n)) {
    t.SetOut(0, out);
  }
}

std::vector<Value> NpiDiffParts(const NpiDiffAttrs& a, const Node& node,
                                GraphBuilder& b) {
  Value x = node.inputs[0];
  if (a.n == 0) return {b.Op<op::Copy>({x})};
  const int axis = *ResolveAxis(a.axis, x.shape().rank());
  for (int64_t i = 0; i < a.n; ++i) {
    const int64_t extent = x.shape()[axis];
    x = b.Sub(b.SliceAxis(x, axis, 1, extent),
              b.SliceAxis(x, axis, 0, extent - 1));
  }
  return {x};
}

}  // namespace

MXC_OP(NpiDiff) {
  return Op<NpiDiffAttrs>("_npi_diff")
      .Doc("numpy.diff")
      .Inputs({{"a", InputKind::kData}})
      .Types(NpiDiffTypes)
      .Decompose(NpiDiffParts);
}

}  // namespace mxc
