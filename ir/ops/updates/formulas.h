// SPDX-License-Identifier: Apache-2.0
// What an update makes of one element of a weight and of its states, in kernel
// IR: for optimizers (ir/optimizers) and for MXNet's operators that are one.
// Expressions are of one float type. `float` numbers are those that MXNet's
// kernels know rounded.
#pragma once

#include <optional>

#include "ir/program/expr.h"

namespace mxc {

// Of one element. `gradient` is rescaled and clipped, and holds the decay or
// not, as each formula says.
struct UpdateTerms {
  Expr weight, gradient;
  Expr rate;   // lr
  Expr decay;  // wd
};

// To ±limit.
Expr ClippedTo(const Expr& x, const Expr& limit);

// decay · state + (1 − decay) · element. `Real`: float where MXNet's kernel
// subtracts, double where Python does.
template <class Real>
Expr RunningMean(Real decay, const Expr& state, const Expr& element) {
  return Lit(decay, state) * state + Lit(1 - decay, state) * element;
}

// lr·wd·w + lr·g, which is subtracted.
Expr SgdStep(const UpdateTerms& t);

struct MovedWeight {
  Expr weight, momentum;
};
// m ← μ·m − lr·wd·w − lr·g;  w ← w + m
MovedWeight SgdMomentum(const UpdateTerms& t, const Expr& factor,
                        const Expr& momentum);
// m ← μ·m;  w ← w − m + (μ + 1)·(m − lr·(g + wd·w))
// m ← m − lr·(g + wd·w), by which time w is the next weight where that is written
// over w
enum class Written { kOver, kBeside };
MovedWeight NagMomentum(const UpdateTerms& t, float factor,
                        const Expr& momentum, Written written);
// m ← μ·m − (1 − μ)·(wd·w + g);  w ← (1 − lr·wd_lh)·w + lr·sign(m)
MovedWeight SignMomentum(const UpdateTerms& t, float factor,
                         const Expr& decay_beside, const Expr& momentum);
// (1 − lr·wd)·w − lr·sign(g)
Expr SignSgdWeight(const UpdateTerms& t);

// m / (√v + ε)
Expr MeanOverRoot(const Expr& mean, const Expr& square, const Expr& epsilon);
// w − lr·m / (√v + ε)
Expr AdamWeight(const UpdateTerms& t, const Expr& mean, const Expr& square,
                const Expr& epsilon);
// w − η·(lr·m / (√v + ε) + wd·w)
Expr AdamwWeight(const UpdateTerms& t, const Expr& eta, const Expr& mean,
                 const Expr& square, const Expr& epsilon);

// m / (√v + ε) + wd·w
Expr LambStep(const UpdateTerms& t, const Expr& mean, const Expr& square,
              const Expr& epsilon);
// ‖w‖ / ‖step‖, ‖w‖ within bounds; 1 if either is 0.
Expr TrustRatio(const Expr& weight, const Expr& step,
                std::optional<double> lower, std::optional<double> upper);

// η·‖w‖ / (‖g‖ + wd·‖w‖ + ε)
Expr LarsRatio(const Expr& eta, const Expr& weight, const Expr& gradient,
               const Expr& decay, const Expr& epsilon);

// n ← (1 − γ1)·g² + γ1·n;  w ← w − lr·g / √(n + ε), where g holds the decay.
struct RmspropNext {
  Expr weight, n;
};
RmspropNext NextByRmsprop(const UpdateTerms& t, float gamma1,
                          const Expr& epsilon, const Expr& n);
// n as before;  a ← (1 − γ1)·g + γ1·a
// Δ ← γ2·Δ − lr·g / √(n − a² + ε);  w ← w + Δ
struct CentredRmspropNext {
  Expr weight, n, mean, delta;
};
CentredRmspropNext NextByCentredRmsprop(const UpdateTerms& t, float gamma1,
                                        const Expr& gamma2, const Expr& epsilon,
                                        const CentredRmspropNext& now);

// z ← z + g − (√(n + g²) − √n)·w / lr;  n ← n + g²
// w ← |z| > λ1 ? (sign(z)·λ1 − z) / ((β + √n) / lr + wd) : 0
struct FtrlNext {
  Expr weight, z, n;
};
FtrlNext NextByFtrl(const UpdateTerms& t, const Expr& lamda1, const Expr& beta,
                    const Expr& z, const Expr& n);

// v ← β2·v + (1 − β2)·g²;  d' = scale·(√(v / correction) + ε)
// z ← β1·z + (1 − β1)·g − (d' − β1·d)·w;  d ← d';  w ← −z / d'
// where g holds the decay, scale is (1 − β1^t) / lr and correction 1 − β2^t.
struct FtmlNext {
  Expr weight, d, v, z;
};
struct FtmlOptions {
  float beta1, beta2;
  Expr epsilon, scale, correction;
};
FtmlNext NextByFtml(const UpdateTerms& t, const FtmlOptions& options,
                    const FtmlNext& now);

}  // namespace mxc
