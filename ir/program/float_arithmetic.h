// SPDX-License-Identifier: Apache-2.0
// How the interpreter computes with floats: exactly, as far as double goes, or
// with the errors that an implementation's roundings would add.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

#include "ir/graph/tensor.h"

namespace mxc {

// Monte Carlo arithmetic: each result of a floating-point operation is off by a
// random part of its last bit, as if it were rounded there, in f64 for doubles
// and in f32 for every narrower type. What several runs differ by is what
// rounding may do to the values, however these are conditioned (D. S. Parker,
// Monte Carlo Arithmetic, UCLA CSD-970002, 1997). Not for several threads.
class RoundingNoise {
 public:
  // `bits`: how many last bits a result may be off by.
  explicit RoundingNoise(uint64_t seed, double bits = 1)
      : random_(seed), bits_(bits) {}

  // A result of the type as another implementation may round it.
  double Of(double value, DType dtype) {
    return value * (1 + UnitOf(dtype) * uniform_(random_));
  }

  // A sum of that type of `terms` products whose squares add up to `squares`:
  // its partial sums are rounded, which terms that cancel out make larger than
  // itself. As a random walk's, their squares add up to half of terms · squares.
  double OfSum(double sum, double terms, double squares, DType dtype) {
    return Of(sum, dtype) +
           UnitOf(dtype) * uniform_(random_) * std::sqrt(terms * squares / 2);
  }

 private:
  double UnitOf(DType dtype) const {
    return bits_ * (dtype == DType::kF64 ? 0x1p-53 : 0x1p-24);
  }

  std::mt19937_64 random_;
  const double bits_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

struct FloatArithmetic {
  // Floats are not rounded to the types of buffers, between inner steps either.
  bool all_double = false;
  RoundingNoise* noise = nullptr;  // where set: what results are off by
};

}  // namespace mxc
