// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/random/sampling.h"

#include <limits>
#include <span>

#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/random/philox_attempt.h"
#include "ir/ops/tensor/random/philox_sample.h"

namespace mxc {
namespace {

constexpr double kAnyNumber = -std::numeric_limits<double>::infinity();

// A parameter as MXNet calls it: as an attribute of _random_*, with its default and
// its least value, and as an input of _sample_*.
struct SamplingParameter {
  std::string attribute;
  double standard;
  std::string input;
  double least = 0;
};
struct SamplingNames {
  std::string name;
  std::vector<SamplingParameter> parameters;
};

const SamplingNames& SamplingNamesOf(Distribution distribution) {
  static const std::vector<SamplingNames> names = {
      {"uniform",
       {{"low", 0, "low", kAnyNumber}, {"high", 1, "high", kAnyNumber}}},
      {"normal", {{"loc", 0, "mu", kAnyNumber}, {"scale", 1, "sigma"}}},
      {"exponential", {{"lam", 1, "lam"}}},
      {"gamma", {{"alpha", 1, "alpha"}, {"beta", 1, "beta"}}},
      {"poisson", {{"lam", 1, "lam"}}},
      {"negative_binomial", {{"k", 1, "k"}, {"p", 1, "p"}}},
      {"generalized_negative_binomial",
       {{"mu", 1, "mu"}, {"alpha", 1, "alpha"}}}};
  return names[static_cast<size_t>(distribution)];
}

Shape StatedOrOne(const Extents& shape) {
  return shape.empty() ? Shape{1} : Shape(shape);
}

// Draws of one shape from one stream, for parameters of f32.
class Sampling {
 public:
  Sampling(GraphBuilder& b, Distribution distribution, const Shape& shape)
      : b_(b),
        name_(SamplingNamesOf(distribution).name),
        attrs_{.shape = shape.dims(), .stream = b.Stream(name_)} {}

  Value Draw(Distribution distribution, const std::vector<Value>& parameters) {
    const Value& first = parameters.front();
    const Value& second = parameters.back();
    switch (distribution) {
      case Distribution::kUniform:
      case Distribution::kNormal:
      case Distribution::kExponential:
        return Drawn(distribution, {first, second});
      case Distribution::kGamma:
        return Gamma(first, second);
      case Distribution::kPoisson:
        return Poisson(first);
      case Distribution::kNegativeBinomial:
        return Poisson(Gamma(first, b_.Div(b_.Sub(1, second), second)));
      case Distribution::kGeneralizedNegativeBinomial: {
        const Value dispersion =
            b_.Op<op::MaximumScalar>({second}, {.scalar = 1e-30});
        return Poisson(Gamma(b_.Div(1, dispersion), b_.Mul(first, dispersion)));
      }
    }
    MXC_CHECK(false);
  }

 private:
  Value Drawn(Distribution distribution, std::vector<Value> inputs) {
    inputs.insert(inputs.begin(), b_.RandomState());
    return b_.Op<op::PhiloxSample>(std::move(inputs), {attrs_, distribution},
                                   name_);
  }
  Value Attempt(RejectedDraw distribution, Value parameter,
                std::string_view role) {
    return b_.Op<op::PhiloxAttempt>({b_.RandomState(), parameter},
                                    {attrs_, distribution}, role);
  }
  Value Gamma(Value shape, Value scale) {
    const Value attempt = Attempt(RejectedDraw::kGamma, shape, "attempt");
    return Drawn(Distribution::kGamma, {shape, scale, attempt});
  }
  Value Poisson(Value mean) {
    const Value attempt = Attempt(RejectedDraw::kPoisson, mean, "tries");
    const Value many = Drawn(Distribution::kPoisson, {mean, mean, attempt});
    return b_.Op<op::PhiloxThinned>({b_.RandomState(), mean, many}, attrs_,
                                    "thinned");
  }

  GraphBuilder& b_;
  const std::string name_;
  const PhiloxAttrs attrs_;
};

// Draws for numbers.
Value DrawSample(GraphBuilder& b, Distribution distribution,
                 std::span<const double> parameters, const Shape& shape,
                 std::optional<DType> dtype) {
  std::vector<Value> values;
  for (const double parameter : parameters) {
    values.push_back(b.Scalar(parameter));
  }
  return DrawSample(b, distribution, values, shape, dtype);
}

template <Distribution kDistribution>
std::span<const double> NumbersOf(const SamplingAttrs<kDistribution>& attrs) {
  return {attrs.parameters.data(),
          SamplingNamesOf(kDistribution).parameters.size()};
}

template <Distribution kDistribution>
void DescribeParameters(SamplingAttrs<kDistribution>& attrs, Fields& f) {
  size_t i = 0;
  for (const auto& parameter : SamplingNamesOf(kDistribution).parameters) {
    f(parameter.attribute, attrs.parameters[i++])
        .Min(parameter.least)
        .Doc("parameter of the distribution");
  }
}

template <Distribution kDistribution>
void DescribeOutput(SamplingAttrs<kDistribution>& attrs, Fields& f) {
  f("shape", attrs.shape).Min(1).Doc("extents");
  f("ctx", attrs.ctx).Doc("device").Hint();
  f("dtype", attrs.dtype).Doc("element type of the output");
}

template <Distribution kDistribution>
std::vector<Value> DrawByNumbers(const SamplingAttrs<kDistribution>& attrs,
                                 const Node& node, GraphBuilder& b) {
  return {DrawSample(b, kDistribution, NumbersOf(attrs), node.types[0].shape,
                     node.types[0].dtype)};
}

template <Distribution kDistribution>
struct LikeAttrs : SamplingAttrs<kDistribution> {
  void Describe(Fields& f) { DescribeParameters(*this, f); }
};

template <Distribution kDistribution>
struct SampleAttrs : SamplingAttrs<kDistribution> {
  void Describe(Fields& f) { DescribeOutput(*this, f); }
};

}  // namespace

template <Distribution kDistribution>
SamplingAttrs<kDistribution>::SamplingAttrs() {
  size_t i = 0;
  for (const auto& parameter : SamplingNamesOf(kDistribution).parameters) {
    parameters[i++] = parameter.standard;
  }
}

template <Distribution kDistribution>
void RandomAttrs<kDistribution>::Describe(Fields& f) {
  DescribeParameters(*this, f);
  DescribeOutput(*this, f);
}

Value DrawSample(GraphBuilder& b, Distribution distribution,
                 std::vector<Value> parameters, const Shape& shape,
                 std::optional<DType> dtype) {
  for (Value& parameter : parameters) {
    parameter = b.Cast(parameter, DType::kF32);
  }
  const Value drawn =
      Sampling(b, distribution, shape).Draw(distribution, parameters);
  return b.Cast(drawn, dtype.value_or(DType::kF32));
}

template <Distribution kDistribution>
Operator RandomOperator() {
  using Attrs = RandomAttrs<kDistribution>;
  const std::string& name = SamplingNamesOf(kDistribution).name;
  std::vector<std::string> aliases = {"random_" + name};
  const bool bare = kDistribution == Distribution::kUniform ||
                    kDistribution == Distribution::kNormal;
  if (bare) aliases.push_back(name);
  return Op<Attrs>("_random_" + name)
      .Alias(aliases)
      .Doc("draws from a distribution with the given parameters")
      .Inputs({})
      .RandomIf([](const auto&, bool) { return true; })
      .ZeroGradient()
      .Types([](const Attrs& attrs, TypeInference& t) {
        t.SetOut(0, StatedOrOne(attrs.shape));
        t.SetOutDType(0, attrs.dtype.value_or(DType::kF32));
      })
      .Decompose(DrawByNumbers<kDistribution>);
}

template <Distribution kDistribution>
Operator RandomLikeOperator() {
  using Attrs = LikeAttrs<kDistribution>;
  return Op<Attrs>("_random_" + SamplingNamesOf(kDistribution).name + "_like")
      .Doc("draws from a distribution, as many as the input has elements")
      .RandomIf([](const auto&, bool) { return true; })
      .ZeroGradient()
      .Types([](const Attrs&, TypeInference& t) {
        t.AllSameShape();
        t.AllSameDType();
      })
      .Decompose(DrawByNumbers<kDistribution>);
}

template <Distribution kDistribution>
Operator SampleOperator() {
  using Attrs = SampleAttrs<kDistribution>;
  const SamplingNames& names = SamplingNamesOf(kDistribution);
  std::vector<InputSpec> inputs;
  for (const auto& parameter : names.parameters) {
    inputs.push_back({parameter.input});
  }
  return Op<Attrs>("_sample_" + names.name)
      .Alias({"sample_" + names.name})
      .Doc("draws from a distribution for each element of its parameters")
      .Inputs(inputs)
      .RandomIf([](const auto&, bool) { return true; })
      .ZeroGradient()
      .Types([](const Attrs& attrs, TypeInference& t) {
        for (int i = 1; i < t.inputs(); ++i) {
          t.SetIn(i, t.In(0));
          t.SetIn(0, t.In(i));
          t.SetInDType(i, t.InDType(0));
        }
        t.SetOutDType(0, attrs.dtype.value_or(DType::kF32));
        if (!t.In(0).known_rank()) return;
        Extents dims = t.In(0).dims();
        dims.insert(dims.end(), attrs.shape.begin(), attrs.shape.end());
        t.SetOut(0, Shape(dims));
      })
      .Decompose([](const Attrs&, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        return {DrawSample(b, kDistribution, node.inputs, node.types[0].shape,
                           node.types[0].dtype)};
      });
}

#define MXC_DISTRIBUTION(name)                                \
  template struct SamplingAttrs<Distribution::name>;          \
  template struct RandomAttrs<Distribution::name>;            \
  template Operator RandomOperator<Distribution::name>();     \
  template Operator RandomLikeOperator<Distribution::name>(); \
  template Operator SampleOperator<Distribution::name>();
MXC_DISTRIBUTION(kUniform)
MXC_DISTRIBUTION(kNormal)
MXC_DISTRIBUTION(kExponential)
MXC_DISTRIBUTION(kGamma)
MXC_DISTRIBUTION(kPoisson)
MXC_DISTRIBUTION(kNegativeBinomial)
MXC_DISTRIBUTION(kGeneralizedNegativeBinomial)
#undef MXC_DISTRIBUTION

}  // namespace mxc
