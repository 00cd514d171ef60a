// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/reduction/np_reduction.h"

#include "ir/ops/tensor/shape/axes.h"

namespace mxc {

std::optional<std::string> CheckNpReduction(const NpReductionAttrs& attrs) {
  if (attrs.axis && attrs.axis->empty()) return "C1: axis () is not supported";
  if (!attrs.initial) return std::nullopt;
  return fmt::format("C2: initial {} is not supported", *attrs.initial);
}

void NpReductionTypes(const NpReductionAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, attrs.dtype.value_or(t.InDType(0)));
  NpReductionShape(attrs.reduction(), t);
}

void NpReductionShape(const ReductionAttrs& attrs, TypeInference& t) {
  const Shape& in = t.In(0);
  if (!in.known_rank()) return;
  const bool to_scalar =
      static_cast<int>(ReducedAxes(attrs, in.rank()).size()) == in.rank();
  if (!to_scalar || attrs.keepdims) return ReductionShape(attrs, t);
  if (attrs.axis && !RequireAxes(t, "C1", *attrs.axis, in.rank())) return;
  t.SetOut(0, Shape(Extents{}));
}

void NpTruthTypes(const NpTruthAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, DType::kBool);
  NpReductionShape(attrs.reduction(), t);
}

Expr Counted(const Expr& x) {
  return x->dtype == DType::kBool ? Cast(x, DType::kI64) : x;
}

void NpSumTypes(const NpReductionAttrs& attrs, TypeInference& t) {
  NpReductionAttrs promoted = attrs;
  if (t.InDType(0) == DType::kBool && !attrs.dtype) {
    promoted.dtype = DType::kI64;
  }
  NpReductionTypes(promoted, t);
}

}  // namespace mxc
