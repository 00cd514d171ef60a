// SPDX-License-Identifier: Apache-2.0
// _npi_boolean_mask_assign_scalar: data, and a number where the mask is not 0.
// C1: see np_mask.h
#include "ir/ops/numpy/indexing/np_mask.h"
#include "ir/ops/numpy/indexing/npi_where_lscalar.h"
#include "ir/ops/numpy/np_composition.h"

namespace mxc {
namespace {

struct MaskAssignScalarAttrs {
  double value = 0;
  int64_t start_axis = 0;

  void Describe(Fields& f) {
    f("value", value).Required().Doc("the number");
    f("start_axis", start_axis)
        .Range(0, kMaxTensorRank)
        .Doc("the first axis that the mask counts");
  }
};

}  // namespace

MXC_OP(NpiBooleanMaskAssignScalar) {
  using Attrs = MaskAssignScalarAttrs;
  return Op<Attrs>("_npi_boolean_mask_assign_scalar")
      .Doc("data with a number where a mask says so")
      .Inputs({{"data"}, {"mask"}})
      .Types([](const Attrs& a, TypeInference& t) {
        RequireMask(a.start_axis, t);
      })
      .Decompose([](const Attrs& a, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        return {b.Op<op::NpiWhereLscalar>(
            {MaskOverData(a.start_axis, node, b), node.inputs[0]},
            {.scalar = a.value})};
      })
      .ZeroGradient();
}

}  // namespace mxc
