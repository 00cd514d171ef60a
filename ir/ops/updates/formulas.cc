// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/updates/formulas.h"

namespace mxc {
namespace {

Expr SignOf(const Expr& x) { return Unary(UnaryOp::kSign, x); }

Expr MeanSquare(float gamma1, const Expr& n, const Expr& g) {
  return Lit(1 - gamma1, g) * (g * g) + Lit(gamma1, g) * n;
}

}  // namespace

Expr ClippedTo(const Expr& x, const Expr& limit) {
  return Max(Min(x, limit), -limit);
}

Expr SgdStep(const UpdateTerms& t) {
  return t.rate * t.decay * t.weight + t.rate * t.gradient;
}

MovedWeight SgdMomentum(const UpdateTerms& t, const Expr& factor,
                        const Expr& momentum) {
  const Expr m = factor * momentum - SgdStep(t);
  return {t.weight + m, m};
}

MovedWeight NagMomentum(const UpdateTerms& t, float factor,
                        const Expr& momentum, Written written) {
  const Expr& w = t.weight;
  const Expr m = Lit(factor, w) * momentum;
  const auto ahead = [&](const Expr& at) {
    return m - t.rate * (t.gradient + t.decay * at);
  };
  const Expr next = w - m + Lit(factor + 1, w) * ahead(w);
  return {next, ahead(written == Written::kOver ? next : w)};
}

MovedWeight SignMomentum(const UpdateTerms& t, float factor,
                         const Expr& decay_beside, const Expr& momentum) {
  const Expr& w = t.weight;
  const Expr m = Lit(factor, w) * momentum -
                 Lit(1 - factor, w) * (t.decay * w + t.gradient);
  return {(Lit(1, w) - t.rate * decay_beside) * w + t.rate * SignOf(m), m};
}

Expr SignSgdWeight(const UpdateTerms& t) {
  const Expr& w = t.weight;
  return (Lit(1, w) - t.rate * t.decay) * w - t.rate * SignOf(t.gradient);
}

Expr MeanOverRoot(const Expr& mean, const Expr& square, const Expr& epsilon) {
  return mean / (Sqrt(square) + epsilon);
}

Expr AdamWeight(const UpdateTerms& t, const Expr& mean, const Expr& square,
                const Expr& epsilon) {
  return t.weight - MeanOverRoot(t.rate * mean, square, epsilon);
}

Expr AdamwWeight(const UpdateTerms& t, const Expr& eta, const Expr& mean,
                 const Expr& square, const Expr& epsilon) {
  return t.weight - eta * (MeanOverRoot(t.rate * mean, square, epsilon) +
                           t.decay * t.weight);
}

Expr LambStep(const UpdateTerms& t, const Expr& mean, const Expr& square,
              const Expr& epsilon) {
  return MeanOverRoot(mean, square, epsilon) + t.decay * t.weight;
}

Expr TrustRatio(const Expr& weight, const Expr& step,
                std::optional<double> lower, std::optional<double> upper) {
  Expr within = weight;
  if (lower) within = Max(within, Lit(*lower, weight));
  if (upper) within = Min(within, Lit(*upper, weight));
  const Expr zero = Lit(0, weight);
  return Select(within == zero || step == zero, Lit(1, weight), within / step);
}

Expr LarsRatio(const Expr& eta, const Expr& weight, const Expr& gradient,
               const Expr& decay, const Expr& epsilon) {
  return eta * weight / (gradient + decay * weight + epsilon);
}

RmspropNext NextByRmsprop(const UpdateTerms& t, float gamma1,
                          const Expr& epsilon, const Expr& n) {
  const Expr square = MeanSquare(gamma1, n, t.gradient);
  return {t.weight - t.rate * t.gradient / Sqrt(square + epsilon), square};
}

CentredRmspropNext NextByCentredRmsprop(const UpdateTerms& t, float gamma1,
                                        const Expr& gamma2, const Expr& epsilon,
                                        const CentredRmspropNext& now) {
  const Expr& g = t.gradient;
  const Expr n = MeanSquare(gamma1, now.n, g);
  const Expr mean = Lit(1 - gamma1, g) * g + Lit(gamma1, g) * now.mean;
  const Expr delta =
      gamma2 * now.delta - t.rate * g / Sqrt(n - mean * mean + epsilon);
  return {t.weight + delta, n, mean, delta};
}

FtrlNext NextByFtrl(const UpdateTerms& t, const Expr& lamda1, const Expr& beta,
                    const Expr& z, const Expr& n) {
  const Expr squares = n + t.gradient * t.gradient;
  const Expr sum =
      z + t.gradient - (Sqrt(squares) - Sqrt(n)) * t.weight / t.rate;
  const Expr shrunk = (SignOf(sum) * lamda1 - sum) /
                      ((beta + Sqrt(squares)) / t.rate + t.decay);
  return {Select(lamda1 < Abs(sum), shrunk, Lit(0, sum)), sum, squares};
}

FtmlNext NextByFtml(const UpdateTerms& t, const FtmlOptions& options,
                    const FtmlNext& now) {
  const Expr& g = t.gradient;
  const Expr old = Lit(options.beta1, g);
  const Expr v = RunningMean(options.beta2, now.v, g * g);
  const Expr d =
      options.scale * (Sqrt(v / options.correction) + options.epsilon);
  const Expr z = old * now.z + Lit(1 - options.beta1, g) * g -
                 (d - old * now.d) * t.weight;
  return {-z / d, d, v, z};
}

}  // namespace mxc
