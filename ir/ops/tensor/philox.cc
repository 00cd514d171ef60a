// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/philox.h"

namespace mxc {

void PhiloxTypes(const PhiloxAttrs& attrs, TypeInference& t) {
  PhiloxTypesOf(DType::kF32, attrs, t);
}

void PhiloxTypesOf(DType dtype, const PhiloxAttrs& attrs, TypeInference& t) {
  t.SetIn(0, Shape{2});
  t.SetInDType(0, DType::kI64);
  const auto elements = CheckedProduct(attrs.shape);
  if (!t.Require(elements && *elements < int64_t{1} << 32,
                 "C1: shape {} has 2^32 elements or more",
                 ToString(attrs.shape))) {
    return;
  }
  t.SetOut(0, Shape(attrs.shape));
  t.SetOutDType(0, dtype);
}

PhiloxState StateOf(const Definition& def, int64_t stream, int input) {
  return {def.In(input, {0}), def.In(input, {1}), stream};
}

PhiloxBlock BlockOf(const PhiloxAttrs& attrs, const Definition& def) {
  return BlockOf(StateOf(def, attrs.stream),
                 Definition::Flatten(def.Indices(), def.OutShape()));
}

}  // namespace mxc
