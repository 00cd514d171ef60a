// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/driver/warp_products.h"

#include <bit>

namespace mxc::runtime {
namespace {

constexpr int kRows = 16, kColumns = 8, kDepth = 8;

struct Sums {
  float at[kRows][kColumns];
};

// Of each lane, 4 words of the left side, 2 of the right one, the sums.
float FromTf32(uint32_t word) { return std::bit_cast<float>(word & ~0x1fffu); }

Sums SumsAt(const LaneWords& lanes, int first) {
  Sums sums;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t g = l / 4, p = l % 4;
    for (uint32_t i = 0; i < 4; ++i) {
      sums.at[g + i / 2 * 8][2 * p + i % 2] =
          std::bit_cast<float>(lanes[l][first + i]);
    }
  }
  return sums;
}

void Add(const LaneWords& lanes, int left, int right, Sums& sums) {
  float a[kRows][kDepth], b[kDepth][kColumns];
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t g = l / 4, p = l % 4;
    for (uint32_t i = 0; i < 4; ++i) {
      a[g + i % 2 * 8][p + i / 2 * 4] = FromTf32(lanes[l][left + i]);
    }
    for (uint32_t i = 0; i < 2; ++i) {
      b[p + i * 4][g] = FromTf32(lanes[l][right + i]);
    }
  }
  for (int m = 0; m < kRows; ++m) {
    float row[kColumns] = {};
    for (int k = 0; k < kDepth; ++k) {
      for (int n = 0; n < kColumns; ++n) row[n] += a[m][k] * b[k][n];
    }
    for (int n = 0; n < kColumns; ++n) sums.at[m][n] += row[n];
  }
}

void Answer(const LaneWords& lanes, const Sums& sums) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t g = l / 4, p = l % 4;
    for (uint32_t i = 0; i < 4; ++i) {
      lanes[l][i] =
          std::bit_cast<uint32_t>(sums.at[g + i / 2 * 8][2 * p + i % 2]);
    }
  }
}

}  // namespace

void ShuffleXor(const LaneWords& lanes) {
  uint32_t values[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) values[l] = lanes[l][0];
  for (uint32_t l = 0; l < kLanes; ++l) {
    lanes[l][0] = values[(l ^ lanes[l][1]) % kLanes];
  }
}

void MmaTf32(const LaneWords& lanes) {
  Sums sums = SumsAt(lanes, 6);
  Add(lanes, 0, 4, sums);
  Answer(lanes, sums);
}

void MmaF32(const LaneWords& lanes) {
  constexpr int kLeft = 0, kSmallLeft = 4, kRight = 8, kSmallRight = 10;
  Sums sums = SumsAt(lanes, 12);
  Add(lanes, kSmallLeft, kRight, sums);
  Add(lanes, kLeft, kSmallRight, sums);
  Add(lanes, kLeft, kRight, sums);
  Answer(lanes, sums);
}

}  // namespace mxc::runtime
