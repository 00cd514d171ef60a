// SPDX-License-Identifier: Apache-2.0
// The identity that Winograd's matrices stand for, on random rows.
#include "ir/program/kernel_basis.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace mxc {
namespace {

using Rows = std::vector<double>;

Rows Multiply(std::span<const double> matrix, const Rows& x) {
  Rows y(matrix.size() / x.size());
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
      Rows kernel(r), data(n);
      for (double& x : kernel) x = uniform(random);
      for (double& x : data) x = uniform(random);
      Rows products = Multiply(KernelMatrix(basis, r), kernel);
      const Rows transformed = Multiply(DataMatrix(basis), data);
      for (int i = 0; i < n; ++i) products[i] *= transformed[i];
      const Rows outputs = Multiply(OutputMatrix(basis, m), products);
      for (int o = 0; o < m; ++o) {
        double want = 0;
        for (int k = 0; k < r; ++k) want += data[o + k] * kernel[k];
        CHECK(outputs[o] == doctest::Approx(want).epsilon(1e-11));
      }
    }
  }
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
        Rows kernel(r), data(window);
        for (double& x : kernel) x = uniform(random);
        for (double& x : data) x = uniform(random);
        const PointRange points = PointsOf(basis, window);
        REQUIRE(points.count == window);
        REQUIRE(points.end() <= n);
        const Rows kernels = Multiply(KernelMatrix(basis, r), kernel);
        Rows products = Multiply(DataMatrix(basis, window), data);
        for (int i = 0; i < window; ++i)
          products[i] *= kernels[points.first + i];
        const Rows outputs = Multiply(OutputMatrix(basis, m, window), products);
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
