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
// once in 10^15 draws.
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
  PhiloxTypes(attrs, t, DType::kF32);
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

// PhiloxDraws for one element; each asks for attempts of its own.
class PhiloxDraws {
 public:
  PhiloxDraws(PhiloxState state, Expr position)
      : state_(std::move(state)), position_(std::move(position)) {}

  Expr Uniform(const Expr& attempt) const {
    return UnitInterval(BlockOf(state_, position_, attempt).first);
  }
  Expr Positive(const Expr& attempt) const {  // in (0, 1]
    return Uniform(attempt) + PhiloxF32(0x1p-24);
  }
  Expr Normal(const Expr& attempt) const {
    return NormalOf(BlockOf(state_, position_, attempt));
  }
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
  Expr FewEvents(const Expr& mean) const;
  Expr ManyEvents(const Expr& mean) const;

  PhiloxState state_;
  Expr position_;
};

// Where each kind of draw finds its attempts.
constexpr int64_t kGammaNormal = 0, kGammaUniform = 16, kGammaBoost = 32;
constexpr int64_t kPoissonFirst = 64, kPoissonSecond = 96, kPoissonFew = 128;
constexpr int64_t kGammaAttempts = 16, kPoissonAttempts = 32;

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

// The sums of the probabilities of 0, 1, … events that a uniform number
// reaches; more than 40 at a mean of 10 have probability 10^-12.
Expr PhiloxDraws::FewEvents(const Expr& mean) const {
  const Expr u = Uniform(kPoissonFew);
  const Expr positive = Max(mean, PhiloxF32(1e-30));
  const Expr events = Definition::Sum({40}, [&](const std::vector<Expr>& k) {
    const Expr below =
        Definition::Sum({k[0] + 1}, [&](const std::vector<Expr>& j) {
          const Expr n = Cast(j[0], DType::kF32);
          return Exp(n * Log(positive) - positive -
                     Unary(UnaryOp::kLogGamma, n + PhiloxF32(1)));
        });
    return Select(below <= u, PhiloxF32(1), PhiloxF32(0));
  });
  return Select(mean <= PhiloxF32(0), PhiloxF32(0), events);
}

// PTRS, for means of 10 and more.
Expr PhiloxDraws::ManyEvents(const Expr& small_or_large) const {
  const Expr mean = Max(small_or_large, PhiloxF32(10));
  const Expr b = PhiloxF32(0.931) + PhiloxF32(2.53) * Sqrt(mean);
  const Expr a = PhiloxF32(-0.059) + PhiloxF32(0.02483) * b;
  const Expr inverse =
      PhiloxF32(1.1239) + PhiloxF32(1.1328) / (b - PhiloxF32(3.4));
  const Expr ratio = PhiloxF32(0.9277) - PhiloxF32(3.6224) / (b - PhiloxF32(2));
  const auto shifted = [&](const Expr& attempt) {
    return Uniform(attempt + kPoissonFirst) - PhiloxF32(0.5);
  };
  const auto distance = [&](const Expr& u) { return PhiloxF32(0.5) - Abs(u); };
  const auto events = [&](const Expr& u) {
    return Unary(
        UnaryOp::kFloor,
        (PhiloxF32(2) * a / Max(distance(u), PhiloxF32(1e-7)) + b) * u + mean +
            PhiloxF32(0.43));
  };
  const Expr chosen = FirstAccepted(kPoissonAttempts, [&](const Expr& attempt) {
    const Expr u = shifted(attempt);
    const Expr v = Positive(attempt + kPoissonSecond);
    const Expr far = Max(distance(u), PhiloxF32(1e-7)), k = events(u);
    const Expr legal =
        PhiloxF32(0) <= k && (PhiloxF32(0.013) <= far || v <= far);
    const Expr left = Log(v) + Log(inverse) - Log(a / (far * far) + b);
    const Expr right =
        k * Log(mean) - mean -
        Unary(UnaryOp::kLogGamma, Max(k, PhiloxF32(0)) + PhiloxF32(1));
    return (PhiloxF32(0.07) <= far && v <= ratio) || (legal && left <= right);
  });
  return events(shifted(chosen));
}

Expr PhiloxDraws::Poisson(const Expr& mean) const {
  return Select(mean < PhiloxF32(10), FewEvents(mean), ManyEvents(mean));
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
