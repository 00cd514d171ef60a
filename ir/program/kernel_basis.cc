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
constexpr Point kPoints6[] = {
    {0, 1. / 4}, {1, -1. / 6}, {-1, -1. / 6}, {2, 1. / 24}, {-2, 1. / 24}};
constexpr Point kPoints8[] = {{0, 1},         {1, -2. / 9},  {-1, -2. / 9},
                              {2, 1. / 90},   {-2, 1. / 90}, {.5, 32. / 45},
                              {-.5, 32. / 45}};

constexpr double kData4[] = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, -1, 0, 1};
constexpr double kData6[] = {4, 0, -5, 0,  1, 0, 0, -4, -4, 1,  1, 0,
                             0, 4, -4, -1, 1, 0, 0, -2, -1, 2,  1, 0,
                             0, 2, -1, -2, 1, 0, 0, 4,  0,  -5, 0, 1};
constexpr double kData8[] = {1, 0,   -5.25, 0,     5.25,  0,     -1, 0,  //
                             0, 1,   1,     -4.25, -4.25, 1,     1,  0,  //
                             0, -1,  1,     4.25,  -4.25, -1,    1,  0,  //
                             0, .5,  .25,   -2.5,  -1.25, 2,     1,  0,  //
                             0, -.5, .25,   2.5,   -1.25, -2,    1,  0,  //
                             0, 2,   4,     -2.5,  -5,    .5,    1,  0,  //
                             0, -2,  4,     2.5,   -5,    -.5,   1,  0,  //
                             0, -1,  0,     5.25,  0,     -5.25, 0,  1};

// What all matrices of a basis follow from.
struct Definition {
  KernelBasis basis;
  std::span<const Point> points;
  std::span<const double> data;
};
constexpr Definition kDefinitions[] = {
    {KernelBasis::kWinograd4, kPoints4, kData4},
    {KernelBasis::kWinograd6, kPoints6, kData6},
    {KernelBasis::kWinograd8, kPoints8, kData8}};

const Definition& DefinitionOf(KernelBasis basis) {
  for (const Definition& definition : kDefinitions) {
    if (definition.basis == basis) return definition;
  }
  MXC_CHECK(false, "a plain kernel has no matrices");
}

std::span<const Point> PointsOf(KernelBasis basis) {
  return DefinitionOf(basis).points;
}

}  // namespace

int64_t WindowOf(KernelBasis basis) {
  if (basis == KernelBasis::kPlain) return 1;
  return static_cast<int64_t>(PointsOf(basis).size()) + 1;  // and infinity
}

KernelBasis BasisOfWindow(int64_t n) {
  for (const Definition& definition : kDefinitions) {
    if (WindowOf(definition.basis) == n) return definition.basis;
  }
  return KernelBasis::kPlain;
}

std::vector<double> KernelMatrix(KernelBasis basis, int64_t kernel) {
  std::vector<double> matrix;
  for (const Point& point : PointsOf(basis)) {
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
  const std::span<const Point> points = PointsOf(basis);
  std::vector<double> powers(points.size(), 1), matrix;
  for (int64_t i = 0; i < outputs; ++i) {
    matrix.insert(matrix.end(), powers.begin(), powers.end());
    matrix.push_back(i + 1 == outputs ? 1 : 0);
    for (size_t p = 0; p < points.size(); ++p) powers[p] *= points[p].at;
  }
  return matrix;
}

}  // namespace mxc
