// SPDX-License-Identifier: Apache-2.0
// Transforms against their sums, of lengths of every kind, and sketches.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "tests/ir/op_run.h"

namespace mxc {
namespace {

using List = std::vector<double>;
constexpr double kTau = 2 * std::numbers::pi;

// Numbers of no pattern.
std::vector<float> Signal(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(std::sin(i * i * 0.7) + i % 3));
  }
  return values;
}

List TransformBySum(const std::vector<float>& x) {
  const int n = static_cast<int>(x.size());
  List pairs;
  for (int k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (int j = 0; j < n; ++j) {
      const double angle = -kTau * (static_cast<int64_t>(j) * k % n) / n;
      sum += std::polar<double>(x[j], angle);
    }
    pairs.push_back(sum.real());
    pairs.push_back(sum.imag());
  }
  return pairs;
}

}  // namespace

TEST_CASE("the Fourier transform is its sum, for lengths of all kinds") {
  // One product; several; a prime beyond one; both.
  for (const int n : {1, 2, 7, 60, 64, 97, 128, 210, 360, 1009}) {
    CAPTURE(n);
    const std::vector<float> x = Signal(n);
    const List expected = TransformBySum(x);
    CHECK(Near(Evaluate("_contrib_fft", {}, {Floats({1, n}, x)}), expected,
               2e-3 * std::sqrt(n)));
    std::vector<float> pairs(expected.begin(), expected.end());
    List back = Evaluate("_contrib_ifft", {}, {Floats({1, 2 * n}, pairs)});
    for (double& value : back) value /= n;
    CHECK(Near(back, List(x.begin(), x.end()), 1e-4));
  }
}

TEST_CASE("what Fourier transforms refuse") {
  CHECK(Refuses("C1", "_contrib_fft", {}, {{2, 3, 4}}));
  CHECK(Refuses("C2", "_contrib_fft", {}, {{2, 1031}}));
  CHECK(Refuses("C1", "_contrib_ifft", {}, {{2, 3}}));
  CHECK(InferOp("_contrib_fft", {}, {{2, 3, 4, 6}}).Out() == "(2, 3, 4, 12)");
}

TEST_CASE("a sketch adds features up where their places are") {
  const Tensor data = Floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor places = Floats({1, 4}, {2, 0, 2, 1});
  const Tensor signs = Floats({1, 4}, {1, -1, -1, 1});
  CHECK(Evaluate("_contrib_count_sketch", {{"out_dim", "3"}},
                 {data, places, signs}) == List{-2, 4, -2, -6, 8, -2});
  CHECK(Refuses("C1", "_contrib_count_sketch", {{"out_dim", "3"}},
                {{2, 4}, {1, 3}, {1, 4}}));
}

}  // namespace mxc
