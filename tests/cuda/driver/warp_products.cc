// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/driver/warp_products.h"

#include <bit>
#include <cstring>

namespace mxc::runtime {
namespace {

// Of products; where elements have 16 bits, a word holds two of the depth.
constexpr int kRows = 16, kColumns = 8, kWords = 8;

struct Sums {
  float at[kRows][kColumns];
};

// The elements of a word.
struct Tf32 {
  static constexpr int kElements = 1;
  static float At(uint32_t word, int) {
    return std::bit_cast<float>(word & ~0x1fffu);
  }
};
struct Bf16 {
  static constexpr int kElements = 2;
  static float At(uint32_t word, int i) {
    return std::bit_cast<float>(i == 0 ? word << 16 : word & ~0xffffu);
  }
};
struct F16 {
  static constexpr int kElements = 2;
  static float At(uint32_t word, int i) {
    const auto bits = static_cast<uint16_t>(word >> (16 * i));
    return static_cast<float>(std::bit_cast<_Float16>(bits));
  }
};

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

// Of each lane, 4 words of the left side, 2 of the right one.
template <class Word>
void Add(const LaneWords& lanes, int left, int right, Sums& sums) {
  constexpr int kElements = Word::kElements, kDepth = kElements * kWords;
  float a[kRows][kDepth], b[kDepth][kColumns];
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t g = l / 4, p = l % 4;
    for (int e = 0; e < kElements; ++e) {
      for (uint32_t i = 0; i < 4; ++i) {
        a[g + i % 2 * 8][kElements * (p + i / 2 * 4) + e] =
            Word::At(lanes[l][left + i], e);
      }
      for (uint32_t i = 0; i < 2; ++i) {
        b[kElements * (p + i * 4) + e][g] = Word::At(lanes[l][right + i], e);
      }
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

// Four of 8 x 8 elements of 16 bits, whose rows are where the lanes say.
struct Matrices {
  explicit Matrices(const LaneWords& lanes) {
    for (uint32_t l = 0; l < kLanes; ++l) {
      const void* row = nullptr;
      std::memcpy(&row, lanes[l], sizeof row);
      std::memcpy(at[l / 8][l % 8], row, sizeof at[0][0]);
    }
  }
  uint16_t at[4][8][8];
};

// (left 4, right 2, sums 4)
template <class Word>
void Multiply(const LaneWords& lanes) {
  Sums sums = SumsAt(lanes, 6);
  Add<Word>(lanes, 0, 4, sums);
  Answer(lanes, sums);
}

}  // namespace

void ShuffleXor(const LaneWords& lanes) {
  uint32_t values[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) values[l] = lanes[l][0];
  for (uint32_t l = 0; l < kLanes; ++l) {
    lanes[l][0] = values[(l ^ lanes[l][1]) % kLanes];
  }
}

void LoadMatrices(const LaneWords& lanes) {
  const Matrices matrices(lanes);
  for (uint32_t l = 0; l < kLanes; ++l) {
    for (uint32_t m = 0; m < 4; ++m) {
      std::memcpy(&lanes[l][m], &matrices.at[m][l / 4][l % 4 * 2],
                  sizeof(uint32_t));
    }
  }
}

void LoadTurnedMatrices(const LaneWords& lanes) {
  const Matrices matrices(lanes);
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t row = l % 4 * 2, column = l / 4;
    for (uint32_t m = 0; m < 4; ++m) {
      const auto& matrix = matrices.at[m];
      lanes[l][m] = matrix[row][column] |
                    static_cast<uint32_t>(matrix[row + 1][column]) << 16;
    }
  }
}

void MmaTf32(const LaneWords& lanes) { Multiply<Tf32>(lanes); }
void MmaBf16(const LaneWords& lanes) { Multiply<Bf16>(lanes); }
void MmaF16(const LaneWords& lanes) { Multiply<F16>(lanes); }

void MmaF32(const LaneWords& lanes) {
  constexpr int kLeft = 0, kSmallLeft = 4, kRight = 8, kSmallRight = 10;
  Sums sums = SumsAt(lanes, 12);
  Add<Tf32>(lanes, kSmallLeft, kRight, sums);
  Add<Tf32>(lanes, kLeft, kSmallRight, sums);
  Add<Tf32>(lanes, kLeft, kRight, sums);
  Answer(lanes, sums);
}

}  // namespace mxc::runtime
