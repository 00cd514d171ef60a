// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/random/philox.h"

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

// _philox_uniform: random numbers, uniform in [0, 1) in steps of 2^-24.
//   state   i64[2]   seed, counter
//   output  f32 of the stated shape
// C1  the output has fewer than 2^32 elements
MXC_OP(PhiloxUniform) {
  return Op<PhiloxAttrs>("_philox_uniform")
      .Doc("uniform random numbers from a counter")
      .Inputs({{"state", InputKind::kData}})
      .Types(PhiloxTypes)
      .Internal()
      .ZeroGradient()
      .Meaning([](const PhiloxAttrs& attrs, Definition& def) {
        def.Set(0, UnitInterval(BlockOf(attrs, def).first));
      });
}

// _philox_normal: random numbers, normal with mean 0 and variance 1.
//   state   i64[2]   seed, counter
//   output  f32 of the stated shape
// C1  the output has fewer than 2^32 elements
MXC_OP(PhiloxNormal) {
  return Op<PhiloxAttrs>("_philox_normal")
      .Doc("normal random numbers from a counter")
      .Inputs({{"state", InputKind::kData}})
      .Types(PhiloxTypes)
      .Internal()
      .ZeroGradient()
      .Meaning([](const PhiloxAttrs& attrs, Definition& def) {
        def.Set(0, NormalOf(BlockOf(attrs, def)));
      });
}

}  // namespace mxc
