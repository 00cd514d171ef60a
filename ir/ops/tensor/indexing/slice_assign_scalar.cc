// SPDX-License-Identifier: Apache-2.0
// _slice_assign_scalar: data with a number in the place of data[begin:end:step].
// C1 to C3  see slicing.h
// Gradient: the head with zeros there.
#include "ir/ops/tensor/indexing/slice_assign_scalar.h"
#include "ir/ops/tensor/indexing/slicing.h"

namespace mxc {
namespace {

void SliceAssignScalarTypes(const SliceAssignScalarAttrs& attrs,
                            TypeInference& t) {
  t.AllSameDType();
  t.AllSameShape();
  if (t.In(0).known()) SliceShape(attrs, t.In(0), t);
}

}  // namespace

MXC_OP(SliceAssignScalar) {
  using Attrs = SliceAssignScalarAttrs;
  return Op<Attrs>("_slice_assign_scalar")
      .Alias({"_npi_slice_assign_scalar", "_crop_assign_scalar"})
      .Doc("data of which a slice is set to a number")
      .Check([](const Attrs& attrs) { return CheckSlice(attrs); })
      .Types(SliceAssignScalarTypes)
      .Meaning([](const Attrs& attrs, Definition& def) {
        def.Set(0, Select(AllInside(PlacesIn(attrs, def)),
                          def.Lit(attrs.scalar), def.In(0, def.Indices())));
      })
      .Gradient(
          [](const Attrs& attrs, GradientBuilder& g) -> std::vector<Value> {
            return {g.Op<op::SliceAssignScalar>({g.Head()}, {attrs, 0})};
          });
}

}  // namespace mxc
