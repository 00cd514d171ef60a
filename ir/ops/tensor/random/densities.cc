// SPDX-License-Identifier: Apache-2.0
// Densities of distributions, a row for each: the logarithm, of samples and of
// parameters that broadcast with them. Types and constraints: density.h. The
// one over vectors is random_pdf_dirichlet.cc.
#include <numbers>

#include "ir/ops/tensor/random/density.h"

namespace mxc {

// _random_pdf_uniform: 1 / (high - low), also outside of the bounds.
MXC_OP(RandomPdfUniform) {
  return DensityOperator(
      "uniform", {"low", "high"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        const Value width = b.Sub(parameters[1], parameters[0]);
        return b.BroadcastTo(b.Neg(b.Log(width)), x.shape());
      });
}

// _random_pdf_normal: e^(-½ ((x - mu) / sigma)²) / (sigma √(2π)).
MXC_OP(RandomPdfNormal) {
  return DensityOperator(
      "normal", {"mu", "sigma"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        const Value apart = b.Div(b.Sub(x, parameters[0]), parameters[1]);
        const Value width =
            b.Mul(parameters[1], std::sqrt(2 * std::numbers::pi));
        return b.Sub(b.Mul(b.Square(apart), -0.5), b.Log(width));
      });
}

// _random_pdf_gamma: beta^alpha x^(alpha - 1) e^(-beta x) / Γ(alpha).
MXC_OP(RandomPdfGamma) {
  return DensityOperator(
      "gamma", {"alpha", "beta"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        const Value &alpha = parameters[0], &beta = parameters[1];
        const Value scale =
            b.Sub(b.Mul(alpha, b.Log(beta)), LogGamma(b, alpha));
        const Value power = b.Mul(b.Sub(alpha, 1), b.Log(x));
        return b.Sub(b.Add(power, scale), b.Mul(beta, x));
      });
}

// _random_pdf_exponential: lam e^(-lam x).
MXC_OP(RandomPdfExponential) {
  return DensityOperator(
      "exponential", {"lam"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        const Value& rate = parameters[0];
        return b.Sub(b.Log(rate), b.Mul(rate, x));
      });
}

// _random_pdf_poisson: lam^x e^(-lam) / x!
MXC_OP(RandomPdfPoisson) {
  return DensityOperator(
      "poisson", {"lam"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        return LogPoisson(b, x, parameters[0]);
      });
}

// _random_pdf_negative_binomial: x failures before the k-th success,
// each trial one with probability p: Γ(x + k) / (Γ(k) x!) p^k (1 - p)^x.
MXC_OP(RandomPdfNegativeBinomial) {
  return DensityOperator(
      "negative_binomial", {"k", "p"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        return LogNegativeBinomial(b, x, parameters[0], parameters[1]);
      });
}

// _random_pdf_generalized_negative_binomial: the negative
// binomial one with mean mu and dispersion alpha: k = 1 / alpha, and
// p = 1 / (1 + mu alpha).
MXC_OP(RandomPdfGeneralizedNegativeBinomial) {
  return DensityOperator(
      "generalized_negative_binomial", {"mu", "alpha"},
      [](GraphBuilder& b, Value x, std::span<const Value> parameters) {
        const Value &mean = parameters[0], &dispersion = parameters[1];
        const Value p = b.Div(1, b.Add(b.Mul(mean, dispersion), 1));
        return LogNegativeBinomial(b, x, b.Div(1, dispersion), p);
      });
}

}  // namespace mxc
