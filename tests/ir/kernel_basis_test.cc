// SPDX-License-Identifier: Apache-2.0
// The identity that Winograd's matrices stand for, on random rows.
#include "ir/program/kernel_basis.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

namespace mxc {
namespace {

using BasisRows = std::vector<double>;

BasisRows Multiply(std::span<const double> matrix, const BasisRows& x) {
  BasisRows y(matrix.size() / x.size());
  for (size_t i = 0; i < y.size(); ++i) {
    for (size_t k = 0; k < x.size(); ++k)
      y[i] += matrix[i * x.size() + k] * x[k];
  }
  return y;
}

TEST_CASE("transformed products are the correlation of a row and a kernel") {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const int n : {4, 6, 8}) {
    const KernelBasis basis = BasisOfWindow(n);
    REQUIRE(WindowOf(basis) == n);
    for (int r = 2; r < n; ++r) {
      const int m = n - r + 1;
      BasisRows kernel(r), data(n);
      for (double& x : kernel) x = uniform(random);
      for (double& x : data) x = uniform(random);
      BasisRows products = Multiply(KernelMatrix(basis, r), kernel);
      const BasisRows transformed = Multiply(DataMatrix(basis), data);
      for (int i = 0; i < n; ++i) products[i] *= transformed[i];
      const BasisRows outputs = Multiply(OutputMatrix(basis, m), products);
      for (int o = 0; o < m; ++o) {
        double want = 0;
        for (int k = 0; k < r; ++k) want += data[o + k] * kernel[k];
        CHECK(outputs[o] == doctest::Approx(want).epsilon(1e-11));
      }
    }
  }
}

// Of F(m, r) in single precision on random rows, of the outputs' deviation, in
// units of its rounding.
double RoundingOf(int64_t window, int64_t kernel_size) {
  const auto rounded = [](double x) -> double { return static_cast<float>(x); };
  const auto multiply = [&](std::span<const double> matrix,
                            const BasisRows& x) {
    BasisRows y(matrix.size() / x.size());
    for (size_t i = 0; i < y.size(); ++i) {
      for (size_t k = 0; k < x.size(); ++k) {
        y[i] = rounded(y[i] + matrix[i * x.size() + k] * x[k]);
      }
    }
    return y;
  };
  constexpr int kRuns = 200, kChannels = 64;
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const KernelBasis basis = BasisOfWindow(window);
  const int64_t outputs = window - kernel_size + 1;
  double error = 0, square = 0;
  for (int run = 0; run < kRuns; ++run) {
    BasisRows sums(window), exact(outputs);
    for (int c = 0; c < kChannels; ++c) {
      BasisRows kernel(kernel_size), data(window);
      for (double& x : kernel) x = rounded(normal(random));
      for (double& x : data) x = rounded(normal(random));
      const BasisRows kernels =
          Multiply(KernelMatrix(basis, kernel_size), kernel);
      const BasisRows windows = multiply(DataMatrix(basis), data);
      for (int64_t i = 0; i < window; ++i) {
        sums[i] = rounded(sums[i] + rounded(kernels[i]) * windows[i]);
      }
      for (int64_t o = 0; o < outputs; ++o) {
        for (int64_t k = 0; k < kernel_size; ++k) {
          exact[o] += data[o + k] * kernel[k];
        }
      }
    }
    const BasisRows found = multiply(OutputMatrix(basis, outputs), sums);
    for (int64_t o = 0; o < outputs; ++o) {
      error += (found[o] - exact[o]) * (found[o] - exact[o]);
      square += exact[o] * exact[o];
    }
  }
  return std::sqrt(error / square) / 0x1p-24;
}

// By 0, ±1, ±2 the second would be 2.3 times the first.
TEST_CASE("windows of 6 round not twice as much as windows of 4") {
  const double four = RoundingOf(4, 3), six = RoundingOf(6, 3);
  CAPTURE(four);
  CAPTURE(six);
  CHECK(six < 1.9 * four);
  CHECK(RoundingOf(8, 3) < 4 * four);
}

TEST_CASE("fewer outputs need fewer points of the same kernel") {
  std::mt19937 random(6);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const int n : {4, 6, 8}) {
    const KernelBasis basis = BasisOfWindow(n);
    for (int r = 2; r < n; ++r) {
      for (int m = 1; m <= n - r + 1; ++m) {
        const int window = m + r - 1;
        CAPTURE(n);
        CAPTURE(window);
        BasisRows kernel(r), data(window);
        for (double& x : kernel) x = uniform(random);
        for (double& x : data) x = uniform(random);
        const PointRange points = PointsOf(basis, window);
        REQUIRE(points.count == window);
        REQUIRE(points.end() <= n);
        const BasisRows kernels = Multiply(KernelMatrix(basis, r), kernel);
        BasisRows products = Multiply(DataMatrix(basis, window), data);
        for (int i = 0; i < window; ++i)
          products[i] *= kernels[points.first + i];
        const BasisRows outputs =
            Multiply(OutputMatrix(basis, m, window), products);
        for (int o = 0; o < m; ++o) {
          double want = 0;
          for (int k = 0; k < r; ++k) want += data[o + k] * kernel[k];
          CHECK(outputs[o] == doctest::Approx(want).epsilon(1e-11));
        }
      }
    }
  }
}

}  // namespace
}  // namespace mxc
