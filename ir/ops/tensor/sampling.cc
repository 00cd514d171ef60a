// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/sampling.h"

#include <array>
#include <limits>
#include <span>

#include "ir/ops/tensor/scalar.h"

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
        attrs_({{"shape", ToString(shape)},
                {"stream", std::to_string(b.Stream(name_))}}) {}

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
  Value Drawn(Distribution distribution, const std::vector<Value>& inputs) {
    return Op("_philox_sample", inputs, SamplingNamesOf(distribution).name,
              name_);
  }
  Value Gamma(Value shape, Value scale) {
    const Value attempt = Op("_philox_attempt", {shape}, "gamma", "attempt");
    return Drawn(Distribution::kGamma, {shape, scale, attempt});
  }
  Value Poisson(Value mean) {
    const Value attempt = Op("_philox_attempt", {mean}, "poisson", "tries");
    const Value many = Drawn(Distribution::kPoisson, {mean, mean, attempt});
    return b_.Op("_philox_thinned", {b_.RandomState(), mean, many}, attrs_,
                 "thinned");
  }
  Value Op(std::string_view op, std::vector<Value> inputs,
           const std::string& distribution, std::string_view role) {
    inputs.insert(inputs.begin(), b_.RandomState());
    std::vector<AttrText> attrs = attrs_;
    attrs.emplace_back("distribution", distribution);
    return b_.Op(op, inputs, attrs, role);
  }

  GraphBuilder& b_;
  const std::string name_;
  const std::vector<AttrText> attrs_;
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
struct SamplingDrawAttrs {
  static constexpr Distribution kDrawn = kDistribution;
  std::array<double, 2> parameters = Defaults();
  Extents shape;
  std::string ctx;
  std::optional<DType> dtype;

  static std::array<double, 2> Defaults() {
    std::array<double, 2> values = {};
    size_t i = 0;
    for (const auto& parameter : SamplingNamesOf(kDistribution).parameters) {
      values[i++] = parameter.standard;
    }
    return values;
  }
  std::span<const double> numbers() const {
    return {parameters.data(),
            SamplingNamesOf(kDistribution).parameters.size()};
  }
  void DescribeParameters(Fields& f) {
    size_t i = 0;
    for (const auto& parameter : SamplingNamesOf(kDistribution).parameters) {
      f(parameter.attribute, parameters[i++])
          .Min(parameter.least)
          .Doc("parameter of the distribution");
    }
  }
  void DescribeOutput(Fields& f) {
    f("shape", shape).Min(1).Doc("extents");
    f("ctx", ctx).Doc("device").Hint();
    f("dtype", dtype).Doc("element type of the output");
  }
};

template <class Attrs>
std::vector<Value> DrawByNumbers(const Attrs& attrs, const Node& node,
                                 GraphBuilder& b) {
  return {DrawSample(b, Attrs::kDrawn, attrs.numbers(), node.types[0].shape,
                     node.types[0].dtype)};
}

template <Distribution kDistribution>
struct RandomDrawAttrs : SamplingDrawAttrs<kDistribution> {
  void Describe(Fields& f) {
    this->DescribeParameters(f);
    this->DescribeOutput(f);
  }
};

template <Distribution kDistribution>
struct LikeDrawAttrs : SamplingDrawAttrs<kDistribution> {
  void Describe(Fields& f) { this->DescribeParameters(f); }
};

template <Distribution kDistribution>
struct SampleDrawAttrs : SamplingDrawAttrs<kDistribution> {
  void Describe(Fields& f) { this->DescribeOutput(f); }
};

}  // namespace

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
  using Attrs = RandomDrawAttrs<kDistribution>;
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
      .Decompose(DrawByNumbers<Attrs>);
}

template <Distribution kDistribution>
Operator RandomLikeOperator() {
  using Attrs = LikeDrawAttrs<kDistribution>;
  return Op<Attrs>("_random_" + SamplingNamesOf(kDistribution).name + "_like")
      .Doc("draws from a distribution, as many as the input has elements")
      .RandomIf([](const auto&, bool) { return true; })
      .ZeroGradient()
      .Types([](const Attrs&, TypeInference& t) {
        t.AllSameShape();
        t.AllSameDType();
      })
      .Decompose(DrawByNumbers<Attrs>);
}

template <Distribution kDistribution>
Operator SampleOperator() {
  using Attrs = SampleDrawAttrs<kDistribution>;
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
