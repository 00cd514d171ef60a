// SPDX-License-Identifier: Apache-2.0
#include "tools/tensor_statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace mxc {
namespace {

template <class T>
TensorStatistics Of(DType dtype, const std::vector<T>& values, Shape shape) {
  return StatisticsOf("w", {dtype, std::move(shape)},
                      std::as_bytes(std::span(values)));
}

TEST_CASE("tensor statistics: as computed by hand") {
  const auto of = Of<float>(DType::kF32, {-2, 0, 1, 5, 0}, {5});
  CHECK(of.count == 5);
  CHECK(of.zeros == 2);
  CHECK(of.least == -2);
  CHECK(of.most == 5);
  CHECK(of.mean == doctest::Approx(0.8));
  CHECK(of.deviation == doctest::Approx(std::sqrt(30 / 5.0 - 0.64)));
  CHECK(std::accumulate(of.bars.begin(), of.bars.end(), int64_t{0}) == 5);
  CHECK(of.bars.front() == 1);
  CHECK(of.bars.back() == 1);
}

TEST_CASE("tensor statistics: zeros that pad do not count") {
  const auto of = Of<float>(DType::kF32, {3, 4, 5, 0, 0, 0, 0, 0}, {3});
  CHECK(of.count == 3);
  CHECK(of.zeros == 0);
  CHECK(of.least == 3);
  CHECK(of.mean == doctest::Approx(4));
}

TEST_CASE("tensor statistics: what is no number is counted apart") {
  const float inf = std::numeric_limits<float>::infinity();
  const auto of = Of<float>(DType::kF32, {1, std::nanf(""), -inf, 3}, {4});
  CHECK(of.not_finite == 2);
  CHECK(of.mean == 2);
  CHECK(of.most == 3);
  const auto none = Of<float>(DType::kF32, {inf}, {1});
  CHECK(none.not_finite == 1);
  CHECK(none.most == 0);
  CHECK(Of<float>(DType::kF32, {}, {0}).count == 0);
}

TEST_CASE("tensor statistics: other types, equal values, many") {
  const auto bytes = Of<uint8_t>(DType::kU8, {0, 255, 255}, {3});
  CHECK(bytes.most == 255);
  CHECK(bytes.mean == doctest::Approx(170));
  const auto same = Of<float>(DType::kF32, std::vector<float>(9, 7), {9});
  CHECK(same.deviation == doctest::Approx(0));
  CHECK(same.bars == decltype(same.bars){});
  std::vector<double> many(10000);
  std::iota(many.begin(), many.end(), 0.0);
  const auto of = Of<double>(DType::kF64, many, {10000});
  CHECK(of.mean == doctest::Approx(4999.5));
  CHECK(of.bars[7] >= 416);
  CHECK(of.bars[7] <= 417);
}

}  // namespace
}  // namespace mxc
