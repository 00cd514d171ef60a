// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/extremum.h"

#include "ir/ops/numpy/np_reduction.h"
#include "ir/ops/tensor/positions.h"

namespace mxc {
namespace {

ReductionAttrs ExtremumAxes(const ExtremumAttrs& attrs) {
  ReductionAttrs reduction;
  if (attrs.axis) reduction.axis = Extents{*attrs.axis};
  reduction.keepdims = attrs.keepdims;
  return reduction;
}

}  // namespace

void ExtremumTypes(const ExtremumAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  ReductionShape(ExtremumAxes(attrs), t);
  if (t.error() || !t.In(0).known()) return;
  RequirePositions(t, ReducedCount(ExtremumAxes(attrs), t.In(0)), t.InDType(0));
}

void NpExtremumTypes(const ExtremumAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, DType::kI64);
  NpReductionShape(ExtremumAxes(attrs), t);
}

void ExtremumMeaning(const ExtremumAttrs& attrs, Definition& def, ReduceOp op) {
  const ReductionAttrs over = ExtremumAxes(attrs);
  const Shape& in = def.InShape(0);
  Extents searched;
  for (const int64_t axis : ReducedAxes(over, in.rank())) {
    searched.push_back(in[static_cast<int>(axis)]);
  }
  const Shape box(searched);
  const std::vector<Expr> extents(searched.begin(), searched.end());
  const auto element = [&](const std::vector<Expr>& r) {
    return def.In(0, ReducedIndex(over, in.rank(), r));
  };
  const Expr extremum = Definition::ReduceOver(
      op, std::vector<Expr>(extents.size(), 0), extents, element);
  const Expr first = Definition::MinOf(extents, [&](const auto& r) {
    const Expr x = element(r);
    Expr found = x == extremum;
    if (IsFloat(x->dtype)) found = found || Unary(UnaryOp::kIsNan, x);
    return Select(found, Definition::Flatten(r, box), box.elements() - 1);
  });
  def.Set(0, first);
}

}  // namespace mxc
