// SPDX-License-Identifier: Apache-2.0
// _philox_sample: random numbers from a distribution; our own operator, of
// which MXNet's _random_* and _sample_* are made.
//   state   i64[2]         seed, counter
//   first, second  f32[1] or f32[P…]   parameters (of one alone, both are it)
//   output  f32[P…, S…]
// C1  the output has fewer than 2^32 elements
// C2  the output's shape begins with that of the parameters, or these are one
// Rejection takes the first of a fixed number of attempts that is accepted, so
// that an element stays a function of its index; that none is happens less than
// once in 10^9 draws.
// Sources: Marsaglia and Tsang, A Simple Method for Generating Gamma Variables,
// 2000; Hörmann, The Transformed Rejection Method for Generating Poisson Random
// Variables (PTRS), 1993.
#include <numbers>

#include "ir/ops/tensor/philox.h"
#include "ir/ops/tensor/sampling.h"

namespace mxc {
namespace {

struct PhiloxSampleAttrs : PhiloxAttrs {
  Distribution distribution = Distribution::kUniform;

  void Describe(Fields& f) {
    PhiloxAttrs::Describe(f);
    f("distribution", distribution)
        .OneOf({"uniform", "normal", "exponential", "gamma", "poisson",
                "negative_binomial", "generalized_negative_binomial"})
        .Doc("what is drawn from");
  }
};

void PhiloxSampleTypes(const PhiloxSampleAttrs& attrs, TypeInference& t) {
  PhiloxTypes(attrs, t);
  for (const int i : {1, 2}) {
    t.SetInDType(i, DType::kF32);
    if (!t.In(i).known() || t.In(i) == Shape{1}) continue;
    const Extents& dims = t.In(i).dims();
    t.Require(dims.size() <= attrs.shape.size() &&
                  std::equal(dims.begin(), dims.end(), attrs.shape.begin()),
              "C2: parameters of shape {} for draws of shape {}",
              ToString(t.In(i)), ToString(attrs.shape));
  }
}

Expr PhiloxF32(double value) { return Constant(value); }
Expr PositivePart(const Expr& bits) {  // in (0, 1]
  return UnitInterval(bits) + PhiloxF32(0x1p-24);
}

// What one element draws; each kind of draw has attempts of its own.
class PhiloxDraws {
 public:
  PhiloxDraws(PhiloxState state, Expr position)
      : state_(std::move(state)), position_(std::move(position)) {}

  PhiloxBlock Block(const Expr& attempt) const {
    return BlockOf(state_, position_, attempt);
  }
  Expr Uniform(const Expr& attempt) const {
    return UnitInterval(Block(attempt).first);
  }
  Expr Positive(const Expr& attempt) const {
    return PositivePart(Block(attempt).first);
  }
  Expr Normal(const Expr& attempt) const { return NormalOf(Block(attempt)); }
  // The first of `count` attempts that is accepted, or the last.
  template <class F>
  static Expr FirstAccepted(int64_t count, F accepts) {
    return Definition::MinOf({Expr(count)}, [&](const std::vector<Expr>& r) {
      return Select(accepts(r[0]), r[0], Expr(count - 1));
    });
  }

  Expr Gamma(const Expr& alpha) const;
  Expr Poisson(const Expr& mean) const;

 private:
  Expr ManyEvents(const Expr& mean) const;

  PhiloxState state_;
  Expr position_;
};

// Where each kind of draw finds its attempts.
constexpr int64_t kGammaNormal = 0, kGammaUniform = 16, kGammaBoost = 32;
constexpr int64_t kPoissonEvents = 64, kPoissonKept = 128;
constexpr int64_t kGammaAttempts = 16, kPoissonAttempts = 16;
constexpr int64_t kMostEvents = 48;
constexpr double kPtrsMean = 10;

// Of scale 1. Below 1 the shape is raised by 1 and the draw multiplied by a
// power of a uniform number.
Expr PhiloxDraws::Gamma(const Expr& alpha) const {
  const Expr raised = Select(alpha < PhiloxF32(1), alpha + PhiloxF32(1), alpha);
  const Expr d = raised - PhiloxF32(1.0 / 3);
  const Expr c = PhiloxF32(1) / Sqrt(PhiloxF32(9) * d);
  const auto cube = [&](const Expr& x) {
    const Expr root = PhiloxF32(1) + c * x;
    return root * root * root;
  };
  const Expr chosen = FirstAccepted(kGammaAttempts, [&](const Expr& attempt) {
    const Expr x = Normal(attempt + kGammaNormal);
    const Expr v = cube(x);
    const Expr u = Positive(attempt + kGammaUniform);
    const Expr bound =
        PhiloxF32(0.5) * x * x + d - d * v + d * Log(Max(v, PhiloxF32(1e-30)));
    return PhiloxF32(0) < v && Log(u) < bound;
  });
  const Expr drawn = d * cube(Normal(chosen + kGammaNormal));
  const Expr boost = Pow(Positive(kGammaBoost), PhiloxF32(1) / alpha);
  return Select(alpha < PhiloxF32(1), drawn * boost, drawn);
}

// PTRS, for means of kPtrsMean and more. Its test subtracts large numbers:
// in f64.
Expr PhiloxDraws::ManyEvents(const Expr& mean) const {
  const Expr b = PhiloxF32(0.931) + PhiloxF32(2.53) * Sqrt(mean);
  const Expr a = PhiloxF32(-0.059) + PhiloxF32(0.02483) * b;
  const Expr inverse =
      PhiloxF32(1.1239) + PhiloxF32(1.1328) / (b - PhiloxF32(3.4));
  const Expr ratio = PhiloxF32(0.9277) - PhiloxF32(3.6224) / (b - PhiloxF32(2));
  const auto block = [&](const Expr& attempt) {
    return Block(attempt + kPoissonEvents);
  };
  const auto shifted = [](const PhiloxBlock& drawn) {
    return UnitInterval(drawn.first) - PhiloxF32(0.5);
  };
  const auto distance = [&](const Expr& u) {
    return Max(PhiloxF32(0.5) - Abs(u), PhiloxF32(1e-7));
  };
  const auto events = [&](const Expr& u) {
    return Unary(UnaryOp::kFloor, (PhiloxF32(2) * a / distance(u) + b) * u +
                                      mean + PhiloxF32(0.43));
  };
  const auto wide = [](const Expr& e) { return Cast(e, DType::kF64); };
  const Expr chosen = FirstAccepted(kPoissonAttempts, [&](const Expr& attempt) {
    const PhiloxBlock drawn = block(attempt);
    const Expr u = shifted(drawn), v = PositivePart(drawn.second);
    const Expr far = distance(u), k = events(u);
    const Expr legal =
        PhiloxF32(0) <= k && (PhiloxF32(0.013) <= far || v <= far);
    const Expr left = wide(Log(v * inverse / (a / (far * far) + b)));
    const Expr n = wide(Max(k, PhiloxF32(0)));
    const Expr right = n * Log(wide(mean)) - wide(mean) -
                       Unary(UnaryOp::kLogGamma, n + Constant(1, DType::kF64));
    return (PhiloxF32(0.07) <= far && v <= ratio) || (legal && left <= right);
  });
  return events(shifted(block(chosen)));
}

// For a mean below kPtrsMean, of that many events each is kept with the
// probability that leaves as many as wanted: the kept ones are of Poisson's
// distribution, too. More than kMostEvents at that mean have probability
// 10^-18.
Expr PhiloxDraws::Poisson(const Expr& mean) const {
  const Expr least = PhiloxF32(kPtrsMean);
  const Expr many = ManyEvents(Max(mean, least));
  const auto kept = [&](const Expr& event, const Expr& bits) {
    const Expr happens = Cast(event, DType::kF32) < many;
    return Select(happens && UnitInterval(bits) < mean / least, PhiloxF32(1),
                  PhiloxF32(0));
  };
  const Expr few =
      Definition::Sum({kMostEvents / 2}, [&](const std::vector<Expr>& r) {
        const PhiloxBlock two = Block(r[0] + kPoissonKept);
        return kept(r[0] * 2, two.first) + kept(r[0] * 2 + 1, two.second);
      });
  return Select(mean < least, few, many);
}

Expr PhiloxDrawn(Distribution distribution, const PhiloxDraws& draws,
                 const Expr& first, const Expr& second) {
  switch (distribution) {
    case Distribution::kUniform:
      return first + (second - first) * draws.Uniform(0);
    case Distribution::kNormal:
      return first + second * draws.Normal(0);
    case Distribution::kExponential:
      return -Log(draws.Positive(0)) / first;
    case Distribution::kGamma:
      return draws.Gamma(first) * second;
    case Distribution::kPoisson:
      return draws.Poisson(first);
    case Distribution::kNegativeBinomial:
      return draws.Poisson(draws.Gamma(first) * (PhiloxF32(1) - second) /
                           second);
    case Distribution::kGeneralizedNegativeBinomial: {
      const Expr dispersion = Max(second, PhiloxF32(1e-30));
      const Expr mixed =
          draws.Gamma(PhiloxF32(1) / dispersion) * first * dispersion;
      return draws.Poisson(Select(second == PhiloxF32(0), first, mixed));
    }
  }
  return first;
}

void PhiloxSampleMeaning(const PhiloxSampleAttrs& attrs, Definition& def) {
  const std::vector<Expr> index = def.Indices();
  const auto parameter = [&](int input) {
    const Shape& shape = def.InShape(input);
    if (shape == Shape{1}) return def.In(input, {0});
    return def.In(input, {index.begin(), index.begin() + shape.rank()});
  };
  const PhiloxDraws draws(StateOf(def, attrs.stream),
                          Definition::Flatten(index, def.OutShape()));
  def.Set(0,
          PhiloxDrawn(attrs.distribution, draws, parameter(1), parameter(2)));
}

}  // namespace

MXC_OP(PhiloxSample) {
  return Op<PhiloxSampleAttrs>("_philox_sample")
      .Doc("random numbers from a distribution and a counter")
      .Inputs({{"state"}, {"first"}, {"second"}})
      .Types(PhiloxSampleTypes)
      .Internal()
      .ZeroGradient()
      .Meaning(PhiloxSampleMeaning);
}

}  // namespace mxc
