// SPDX-License-Identifier: Apache-2.0
// The distributions of mx.np that are a function of one draw: a row for each.
// Types and constraints: np_random.h. P(x) is the share of draws below x.
#include "ir/ops/numpy/random/np_random.h"

namespace mxc {
namespace {

// _npi_uniform: low ≤ x < high.
constexpr NpDistribution kNpiUniform = {
    .names = {"low", "high"}, .typed = true, .draw = DrawUniform};

// _npi_uniform_n: low ≤ x < high.
constexpr NpDistribution kNpiUniformN = {.names = {"low", "high"},
                                         .typed = true,
                                         .batch = true,
                                         .draw = DrawUniform};

// _npi_normal: mean loc, deviation scale.
constexpr NpDistribution kNpiNormal = {
    .names = {"loc", "scale"}, .typed = true, .draw = DrawNormal};

// _npi_normal_n: mean loc, deviation scale.
constexpr NpDistribution kNpiNormalN = {.names = {"loc", "scale"},
                                        .typed = true,
                                        .batch = true,
                                        .draw = DrawNormal};

// _npi_exponential: mean scale.
constexpr NpDistribution kNpiExponential = {
    .names = {"scale"},
    .standard = 1,
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      return b.Mul(StandardExponential(b, shape), parameters[0]);
    }};

// _npi_gumbel: P(x) = e^(-e^(-(x - loc) / scale)), of all below x.
constexpr NpDistribution kNpiGumbel = {
    .names = {"loc", "scale"},
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value drawn = b.Neg(b.Log(StandardExponential(b, shape)));
      return Placed(b, drawn, parameters);
    }};

// _npi_logistic: P(x) = 1 / (1 + e^(-(x - loc) / scale)), of all below x.
constexpr NpDistribution kNpiLogistic = {
    .names = {"loc", "scale"},
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value u = InsideUnit(b, shape);
      const Value drawn = b.Sub(b.Log(u), b.Op<op::Log1p>({b.Neg(u)}));
      return Placed(b, drawn, parameters);
    }};

// _npi_pareto: P(x) = 1 - (1 + x)^-a, of all below x.
constexpr NpDistribution kNpiPareto = {
    .names = {"a"},
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value drawn = StandardExponential(b, shape);
      return b.Op<op::Expm1>({b.Div(drawn, parameters[0])});
    }};

// _npi_powerd: P(x) = x^a, of all below x, for 0 ≤ x ≤ 1.
constexpr NpDistribution kNpiPowerd = {
    .names = {"a"},
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value drawn = b.Log(InsideUnit(b, shape));
      return b.Exp(b.Div(drawn, parameters[0]));
    }};

// _npi_rayleigh: P(x) = 1 - e^(-½ (x / scale)²), of all below x.
constexpr NpDistribution kNpiRayleigh = {
    .names = {"scale"},
    .standard = 1,
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value drawn = StandardExponential(b, shape);
      return b.Mul(b.Sqrt(b.Mul(drawn, 2)), parameters[0]);
    }};

// _npi_weibull: P(x) = 1 - e^(-x^a), of all below x.
constexpr NpDistribution kNpiWeibull = {
    .names = {"a"},
    .draw = [](GraphBuilder& b, const Shape& shape,
               const std::vector<Value>& parameters) {
      const Value drawn = b.Log(StandardExponential(b, shape));
      return b.Exp(b.Div(drawn, parameters[0]));
    }};

}  // namespace

MXC_OP(NpiUniform) {
  return NpRandomOperator<kNpiUniform>("_npi_uniform",
                                       "numbers drawn evenly from a range");
}

MXC_OP(NpiUniformN) {
  return NpRandomOperator<kNpiUniformN>("_npi_uniform_n",
                                        "numbers drawn evenly from a range");
}

MXC_OP(NpiNormal) {
  return NpRandomOperator<kNpiNormal>(
      "_npi_normal", "numbers drawn from a normal distribution");
}

MXC_OP(NpiNormalN) {
  return NpRandomOperator<kNpiNormalN>(
      "_npi_normal_n", "numbers drawn from a normal distribution");
}

MXC_OP(NpiExponential) {
  return NpRandomOperator<kNpiExponential>(
      "_npi_exponential", "numbers drawn from an exponential distribution");
}

MXC_OP(NpiGumbel) {
  return NpRandomOperator<kNpiGumbel>(
      "_npi_gumbel", "numbers drawn from a Gumbel distribution");
}

MXC_OP(NpiLogistic) {
  return NpRandomOperator<kNpiLogistic>(
      "_npi_logistic", "numbers drawn from a logistic distribution");
}

MXC_OP(NpiPareto) {
  return NpRandomOperator<kNpiPareto>(
      "_npi_pareto", "numbers drawn from a Pareto distribution (II, Lomax)");
}

MXC_OP(NpiPowerd) {
  return NpRandomOperator<kNpiPowerd>(
      "_npi_powerd", "numbers drawn from a power distribution");
}

MXC_OP(NpiRayleigh) {
  return NpRandomOperator<kNpiRayleigh>(
      "_npi_rayleigh", "numbers drawn from a Rayleigh distribution");
}

MXC_OP(NpiWeibull) {
  return NpRandomOperator<kNpiWeibull>(
      "_npi_weibull", "numbers drawn from a Weibull distribution");
}

}  // namespace mxc
