// SPDX-License-Identifier: Apache-2.0
// _slice_assign: lhs with rhs in the place of lhs[begin:end:step].
// C1 to C3  see slicing.h
// C4  rhs has the shape of the slice
// Gradient: the head with zeros there, and its slice.
#include "ir/ops/tensor/indexing/slice_assign_scalar.h"
#include "ir/ops/tensor/indexing/slicing.h"

namespace mxc {
namespace {

void SliceAssignTypes(const SliceAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  if (!t.In(0).known()) return;
  const auto slice = SliceShape(attrs, t.In(0), t);
  if (!slice) return;
  if (t.In(1).known()) {
    t.Require(t.In(1) == *slice, "C4: rhs has shape {}, the slice {}",
              ToString(t.In(1)), ToString(*slice));
  }
  t.SetIn(1, *slice);
}

void SliceAssignMeaning(const SliceAttrs& attrs, Definition& def) {
  const std::vector<SlicePlace> places = PlacesIn(attrs, def);
  std::vector<Expr> index;
  for (const SlicePlace& place : places) index.push_back(place.index);
  def.Set(
      0, Select(AllInside(places), def.In(1, index), def.In(0, def.Indices())));
}

std::vector<Value> SliceAssignGradient(const SliceAttrs& attrs,
                                       GradientBuilder& g) {
  return {g.Op<op::SliceAssignScalar>({g.Head()}, {attrs, 0}),
          g.Op<op::Slice>({g.Head()}, attrs)};
}

}  // namespace

MXC_OP(SliceAssign) {
  return Op<SliceAttrs>("_slice_assign")
      .Alias({"_npi_slice_assign", "_crop_assign"})
      .Doc("data of which a slice is replaced")
      .Inputs({{"lhs", InputKind::kData}, {"rhs", InputKind::kData}})
      .Check(CheckSlice)
      .Types(SliceAssignTypes)
      .Meaning(SliceAssignMeaning)
      .Gradient(SliceAssignGradient);
}

}  // namespace mxc
