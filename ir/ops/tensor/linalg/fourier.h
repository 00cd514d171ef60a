// SPDX-License-Identifier: Apache-2.0
// The discrete Fourier transform along the last axis, by products of matrices:
// of n = n1 · n2 numbers it is n2 transforms of n1 numbers, a turn of each, and
// n1 transforms of n2 (Cooley and Tukey, An Algorithm for the Machine
// Calculation of Complex Fourier Series, 1965).
#pragma once

#include "ir/ops/op.h"

namespace mxc {

struct FourierAttrs {
  int64_t compute_size = 128;

  void Describe(Fields& f) {
    f("compute_size", compute_size).Doc("how many at a time").Hint();
  }
};

// Real and imaginary parts, of one type; `imaginary` may be empty: zeros.
struct ComplexValue {
  Value real, imaginary;
};

// The largest prime factor that a number of elements may have: so many rows
// have the largest matrices.
inline constexpr int64_t kMostFourierFactor = 1024;
// Reports, as `label`, an extent that has a larger one.
bool RequireFourier(TypeInference& t, std::string_view label, int64_t extent);

// Σ x[j] · e^(∓2πi·j·k/n) for each k; plus with `inverse`, which divides by
// nothing.
ComplexValue FourierTransform(GraphBuilder& b, ComplexValue x, bool inverse);

// Complex numbers as MXNet lays them out, real and imaginary parts in turn
// along the last axis.
Value Interleaved(GraphBuilder& b, const ComplexValue& x);
ComplexValue Separated(GraphBuilder& b, Value x);

}  // namespace mxc
