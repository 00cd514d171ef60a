// SPDX-License-Identifier: Apache-2.0
// _philox_attempt: which of its attempts a draw by rejection takes; our own
// operator, see draws.h.
//   state      i64[2]         seed, counter
//   parameter  f32[1] or f32[P…]   the gamma distribution's shape, or the mean
//   output     i32[P…, S…]
// C1  the output has fewer than 2^32 elements
// C2  the output's shape begins with that of the parameter, or this is one
#include "ir/ops/tensor/random/philox_attempt.h"

#include "ir/ops/tensor/random/draws.h"
#include "ir/ops/tensor/random/sampling.h"

namespace mxc {
namespace {

Expr F32Number(double value) { return Constant(value); }

Expr GammaAccepts(const PhiloxDraws& draws, const GammaDraw& gamma,
                  const Expr& attempt) {
  const Expr x = draws.Normal(attempt + kGammaNormal), v = gamma.Cube(x);
  const Expr u = PositivePart(draws.Block(attempt + kGammaUniform).first);
  const Expr bound = F32Number(0.5) * x * x + gamma.d - gamma.d * v +
                     gamma.d * Log(Max(v, F32Number(1e-30)));
  return F32Number(0) < v && Log(u) < bound;
}

// The test subtracts large numbers: in f64.
Expr PoissonAccepts(const PhiloxDraws& draws, const PoissonDraw& poisson,
                    const Expr& attempt) {
  const auto wide = [](const Expr& e) { return Cast(e, DType::kF64); };
  const Expr &a = poisson.a, &b = poisson.b;
  const PhiloxBlock block = draws.Block(attempt + kPoissonEvents);
  const Expr u = PoissonDraw::Shifted(block), v = PositivePart(block.second);
  const Expr far = PoissonDraw::Distance(u), k = poisson.Events(u);
  const Expr legal = F32Number(0) <= k && (F32Number(0.013) <= far || v <= far);
  const Expr inverse =
      F32Number(1.1239) + F32Number(1.1328) / (b - F32Number(3.4));
  const Expr ratio = F32Number(0.9277) - F32Number(3.6224) / (b - F32Number(2));
  const Expr left = wide(Log(v * inverse / (a / (far * far) + b)));
  const Expr n = wide(Max(k, F32Number(0))), mean = wide(poisson.mean);
  const Expr right = n * Log(mean) - mean -
                     Unary(UnaryOp::kLogGamma, n + Constant(1, DType::kF64));
  return (F32Number(0.07) <= far && v <= ratio) || (legal && left <= right);
}

void PhiloxAttemptMeaning(const PhiloxAttemptAttrs& attrs, Definition& def) {
  const PhiloxDraws draws(attrs, def);
  const Expr parameter = ParameterOf(def, 1);
  const auto accepts = [&](const Expr& attempt) {
    return attrs.distribution == RejectedDraw::kGamma
               ? GammaAccepts(draws, GammaDraw(parameter), attempt)
               : PoissonAccepts(draws, PoissonDraw(parameter), attempt);
  };
  def.Set(0, Definition::MinOf(
                 {Expr(kDrawAttempts)}, [&](const std::vector<Expr>& r) {
                   return Select(accepts(r[0]), r[0], Expr(kDrawAttempts - 1));
                 }));
}

}  // namespace

MXC_OP(PhiloxAttempt) {
  return Op<PhiloxAttemptAttrs>("_philox_attempt")
      .Doc("which attempt a draw by rejection takes")
      .Inputs({{"state"}, {"parameter"}})
      .Types([](const PhiloxAttemptAttrs& attrs, TypeInference& t) {
        PhiloxTypesOf(DType::kI32, attrs, t);
        ParameterTypes(attrs, 1, 1, "C2", t);
      })
      .Internal()
      .ZeroGradient()
      .Meaning(PhiloxAttemptMeaning);
}

}  // namespace mxc
