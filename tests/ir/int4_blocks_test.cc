// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "ir/program/int4_blocks.h"

namespace mxc {
namespace {

// Of one output.
std::vector<float> Unpacked(std::span<const std::byte> blocks, int64_t inputs,
                            int64_t group, float scale) {
  Contraction c;
  c.in = inputs;
  c.int4_group = group;
  std::vector<Element> bytes;
  for (const std::byte byte : blocks) bytes.push_back(static_cast<int>(byte));
  std::vector<float> values;
  for (const Element level : Int4Levels(c, bytes)) {
    values.push_back(static_cast<float>(level) * scale);
  }
  return values;
}

std::vector<float> ThereAndBack(std::span<const float> row, int64_t group) {
  const auto inputs = static_cast<int64_t>(row.size());
  const float scale = Int4Scale(row);
  std::vector<std::byte> blocks(
      static_cast<size_t>(Int4RowBytes(inputs, group)));
  PackInt4(row, group, scale, blocks.data());
  return Unpacked(blocks, inputs, group, scale);
}

TEST_CASE("a block is a level and two weights in each byte") {
  Contraction c;
  c.in = c.int4_group = 4;
  // Level 3; weights 0 - 8, 15 - 8; 9 - 8, 6 - 8.
  const std::vector<Element> bytes = {128 + 3, 0xf0, 0x69};
  CHECK(Int4Levels(c, bytes) == std::vector<Element>{-24, 21, 3, -6});
  CHECK(Int4RowBytes(64, 32) == 34);
}

TEST_CASE("weights of 4 bits are near what they were") {
  constexpr int64_t kGroup = 32, kInputs = 128;
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (int run = 0; run < 50; ++run) {
    std::vector<float> row;
    for (int64_t k = 0; k < kInputs; ++k) {
      // Groups of different magnitudes.
      row.push_back(normal(random) * std::ldexp(1.0F, -(k / kGroup)));
    }
    const std::vector<float> found = ThereAndBack(row, kGroup);
    for (int64_t first = 0; first < kInputs; first += kGroup) {
      float largest = 0;
      double error = 0;
      for (int64_t k = first; k < first + kGroup; ++k) {
        largest = std::max(largest, std::abs(row[k]));
        error += std::pow(found[k] - row[k], 2);
      }
      // Steps of an eighth of the largest, rounded to the nearest: their
      // deviation is a step over the root of 12, as far as 32 draws tell.
      const double deviation = std::sqrt(error / kGroup);
      CHECK(deviation < 1.5 * largest / 8 / std::sqrt(12.0));
    }
  }
}

TEST_CASE("weights of zeros, of one value, and large ones") {
  const std::vector<float> zeros(32), alike(32, -0.75F), large(32, 3e38F);
  CHECK(ThereAndBack(zeros, 32) == zeros);
  for (const float value : ThereAndBack(alike, 32)) {
    CHECK(value == doctest::Approx(-0.75).epsilon(0.01));
  }
  for (const float value : ThereAndBack(large, 32)) {
    CHECK(value == doctest::Approx(3e38).epsilon(0.01));
  }
}

}  // namespace
}  // namespace mxc
