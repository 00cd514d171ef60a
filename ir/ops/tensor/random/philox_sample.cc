// SPDX-License-Identifier: Apache-2.0
// _philox_sample: random numbers from a distribution; our own operator, of
// which MXNet's _random_* and _sample_* are made.
//   state    i64[2]        seed, counter
//   first, second  f32[1] or f32[P…]   parameters (of one alone, both are it)
//   attempt  i32[P…, S…]   of _philox_attempt; gamma and poisson
//   output   f32[P…, S…]   a Poisson mean below kPtrsMean counts as that
// C1  the output has fewer than 2^32 elements
// C2  the output's shape begins with that of the parameters, or these are one
#include "ir/ops/tensor/random/philox_sample.h"

#include "ir/ops/tensor/random/draws.h"
#include "ir/ops/tensor/random/sampling.h"

namespace mxc {
namespace {

std::vector<InputSpec> PhiloxSampleInputs(const PhiloxSampleAttrs& attrs) {
  std::vector<InputSpec> inputs = {{"state"}, {"first"}, {"second"}};
  if (attrs.rejects()) inputs.push_back({"attempt"});
  return inputs;
}

void PhiloxSampleTypes(const PhiloxSampleAttrs& attrs, TypeInference& t) {
  PhiloxTypes(attrs, t);
  ParameterTypes(attrs, 1, 2, "C2", t);
  if (!attrs.rejects()) return;
  t.SetIn(3, Shape(attrs.shape));
  t.SetInDType(3, DType::kI32);
}

// A shape below 1 was raised by 1: the draw is multiplied by a power of a
// uniform number.
Expr GammaNumber(const PhiloxDraws& draws, const Expr& shape,
                 const Expr& attempt) {
  const GammaDraw gamma(shape);
  const Expr drawn = gamma.d * gamma.Cube(draws.Normal(attempt + kGammaNormal));
  const Expr one = Constant(1);
  const Expr boost =
      Pow(PositivePart(draws.Block(kGammaBoost).first), one / shape);
  return Select(shape < one, drawn * boost, drawn);
}

void PhiloxSampleMeaning(const PhiloxSampleAttrs& attrs, Definition& def) {
  const PhiloxDraws draws(attrs, def);
  const Expr first = ParameterOf(def, 1), second = ParameterOf(def, 2);
  const auto attempt = [&] {
    return Cast(def.In(3, def.Indices()), DType::kI64);
  };
  switch (attrs.distribution) {
    case Distribution::kUniform:
      return def.Set(0, first + (second - first) * draws.Uniform(0));
    case Distribution::kNormal:
      return def.Set(0, first + second * draws.Normal(0));
    case Distribution::kExponential:
      return def.Set(0, -Log(PositivePart(draws.Block(0).first)) / first);
    case Distribution::kGamma:
      return def.Set(0, GammaNumber(draws, first, attempt()) * second);
    case Distribution::kPoisson:
      return def.Set(0, PoissonDraw(first).Events(PoissonDraw::Shifted(
                            draws.Block(attempt() + kPoissonEvents))));
    case Distribution::kNegativeBinomial:
    case Distribution::kGeneralizedNegativeBinomial:
      break;
  }
  MXC_CHECK(false, "a distribution that is made of others");
}

}  // namespace

MXC_OP(PhiloxSample) {
  return Op<PhiloxSampleAttrs>("_philox_sample")
      .Doc("random numbers from a distribution and a counter")
      .InputsOf(PhiloxSampleInputs)
      .Types(PhiloxSampleTypes)
      .Internal()
      .ZeroGradient()
      .Meaning(PhiloxSampleMeaning);
}

}  // namespace mxc
