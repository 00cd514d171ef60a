// SPDX-License-Identifier: Apache-2.0
#include "ir/program/kernel_basis.h"

#include "ir/support/check.h"

namespace mxc {
namespace {

// A finite point, and by what the value of a kernel there is multiplied.
struct Point {
  double at, factor;
};

constexpr Point kPoints4[] = {{0, 1}, {1, .5}, {-1, .5}};
constexpr Point kPoints6[] = {{0, 256. / 225},
                              {5. / 8, -2048. / 2975},
                              {-5. / 8, -2048. / 2975},
                              {3. / 2, 128. / 1071},
                              {-3. / 2, 128. / 1071}};
constexpr Point kPoints8[] = {{0, 1},         {1, -2. / 9},  {-1, -2. / 9},
                              {2, 1. / 90},   {-2, 1. / 90}, {.5, 32. / 45},
                              {-.5, 32. / 45}};

constexpr double kData4[] = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, -1, 0, 1};
constexpr double kA = 5. / 8, kA2 = kA * kA, kB = 3. / 2, kB2 = kB * kB;
constexpr double kData6[] = {
    kA2 * kB2, 0,        -kA2 - kB2, 0,          1, 0,  //
    0,         -kA* kB2, -kB2,       kA,         1, 0,  //
    0,         kA* kB2,  -kB2,       -kA,        1, 0,  //
    0,         -kB* kA2, -kA2,       kB,         1, 0,  //
    0,         kB* kA2,  -kA2,       -kB,        1, 0,  //
    0,         kA2* kB2, 0,          -kA2 - kB2, 0, 1};
constexpr double kData8[] = {1, 0,   -5.25, 0,     5.25,  0,     -1, 0,  //
                             0, 1,   1,     -4.25, -4.25, 1,     1,  0,  //
                             0, -1,  1,     4.25,  -4.25, -1,    1,  0,  //
                             0, .5,  .25,   -2.5,  -1.25, 2,     1,  0,  //
                             0, -.5, .25,   2.5,   -1.25, -2,    1,  0,  //
                             0, 2,   4,     -2.5,  -5,    .5,    1,  0,  //
                             0, -2,  4,     2.5,   -5,    -.5,   1,  0,  //
                             0, -1,  0,     5.25,  0,     -5.25, 0,  1};

// What all matrices of a basis follow from.
struct BasisDefinition {
  KernelBasis basis;
  std::span<const Point> points;
  std::span<const double> data;
};
constexpr BasisDefinition kDefinitions[] = {
    {KernelBasis::kWinograd4, kPoints4, kData4},
    {KernelBasis::kWinograd6, kPoints6, kData6},
    {KernelBasis::kWinograd8, kPoints8, kData8}};

const BasisDefinition& DefinitionOf(KernelBasis basis) {
  for (const BasisDefinition& definition : kDefinitions) {
    if (definition.basis == basis) return definition;
  }
  MXC_CHECK(false, "a plain kernel has no matrices");
}

std::span<const Point> FinitePoints(KernelBasis basis) {
  return DefinitionOf(basis).points;
}

// The polynomial that is 1 / factor at `point` and 0 at the others; lowest
// power first.
std::vector<double> Interpolation(std::span<const Point> points,
                                  const Point& point) {
  std::vector<double> polynomial = {1};
  double scale = point.factor;
  for (const Point& other : points) {
    if (other.at == point.at) continue;
    polynomial.insert(polynomial.begin(), 0);
    for (size_t i = 0; i + 1 < polynomial.size(); ++i) {
      polynomial[i] -= other.at * polynomial[i + 1];
    }
    scale *= point.at - other.at;
  }
  // The coefficients are fractions of powers of 2; the factors are not.
  for (double& x : polynomial) x = static_cast<float>(x / scale);
  return polynomial;
}

}  // namespace

int64_t WindowOf(KernelBasis basis) {
  if (basis == KernelBasis::kPlain) return 1;
  return static_cast<int64_t>(FinitePoints(basis).size()) + 1;  // and infinity
}

KernelBasis BasisOfWindow(int64_t n) {
  for (const BasisDefinition& definition : kDefinitions) {
    if (WindowOf(definition.basis) == n) return definition.basis;
  }
  return KernelBasis::kPlain;
}

std::vector<double> KernelMatrix(KernelBasis basis, int64_t kernel) {
  std::vector<double> matrix;
  for (const Point& point : FinitePoints(basis)) {
    double value = point.factor;
    for (int64_t k = 0; k < kernel; ++k, value *= point.at) {
      matrix.push_back(value);
    }
  }
  matrix.resize(matrix.size() + static_cast<size_t>(kernel));
  matrix.back() = 1;
  return matrix;
}

std::span<const double> DataMatrix(KernelBasis basis) {
  return DefinitionOf(basis).data;
}

std::vector<double> OutputMatrix(KernelBasis basis, int64_t outputs) {
  const std::span<const Point> points = FinitePoints(basis);
  std::vector<double> powers(points.size(), 1), matrix;
  for (int64_t i = 0; i < outputs; ++i) {
    matrix.insert(matrix.end(), powers.begin(), powers.end());
    matrix.push_back(i + 1 == outputs ? 1 : 0);
    for (size_t p = 0; p < points.size(); ++p) powers[p] *= points[p].at;
  }
  return matrix;
}

// 0 leads, then each point has its opposite beside it.
PointRange PointsOf(KernelBasis basis, int64_t window) {
  const int64_t n = WindowOf(basis);
  MXC_CHECK(window >= 1 && window <= n, "{} of {} points", window, n);
  if (window == n) return {0, n};
  return {window % 2 == 0 ? 1 : 0, window};
}

std::vector<double> DataMatrix(KernelBasis basis, int64_t window) {
  const std::span<const double> whole = DataMatrix(basis);
  if (window == WindowOf(basis)) return {whole.begin(), whole.end()};
  const PointRange range = PointsOf(basis, window);
  const auto points = FinitePoints(basis).subspan(
      static_cast<size_t>(range.first), static_cast<size_t>(range.count));
  std::vector<double> matrix;
  for (const Point& point : points) {
    const std::vector<double> row = Interpolation(points, point);
    matrix.insert(matrix.end(), row.begin(), row.end());
  }
  return matrix;
}

std::vector<double> OutputMatrix(KernelBasis basis, int64_t outputs,
                                 int64_t window) {
  const int64_t n = WindowOf(basis);
  const std::vector<double> whole = OutputMatrix(basis, outputs);
  const PointRange range = PointsOf(basis, window);
  std::vector<double> matrix;
  for (int64_t i = 0; i < outputs; ++i) {
    const auto row = whole.begin() + i * n;
    matrix.insert(matrix.end(), row + range.first, row + range.end());
  }
  return matrix;
}

}  // namespace mxc
