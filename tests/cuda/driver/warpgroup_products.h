// SPDX-License-Identifier: Apache-2.0
// What a thread of a warpgroup has of a product (codegen/cuda/primitives.def).
#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace mxc::runtime {

enum Element { kBf16, kF16 };

// Of 64 x 16 by 16 x columns, both sides in shared memory.
struct WarpgroupProduct {
  // PTX ISA, "Matrix Descriptor Format", and "Shared Memory Matrix Layout" with a
  // swizzle of 128 bytes: rows of 64 elements, of which 8 are a pattern.
  struct Side {
    uint32_t begin, leading, stride;  // bytes
    bool turned;                      // lines lie side by side

    uint32_t Offset(uint32_t line, uint32_t depth) const {
      const uint32_t far = turned ? depth : line, near = turned ? line : depth;
      const uint32_t at = begin + near / 64 * leading + far / 8 * stride +
                          far % 8 * 128 + near % 64 * 2;
      return at ^ (at >> 7 & 7) << 4;
    }
  };
  Side left, right;
  Element element;
  uint32_t columns;

  // Two descriptors of 64 bits, and whether each side is turned.
  static constexpr uint32_t kWords = 6;
  static WarpgroupProduct Read(const uint32_t* words, Element element,
                               uint32_t columns) {
    const auto side = [&](uint32_t i) -> Side {
      uint64_t bits = 0;
      std::memcpy(&bits, words + 2 * i, sizeof bits);
      const auto bytes = [&](int shift) {
        return static_cast<uint32_t>(bits >> shift & 0x3fff) << 4;
      };
      if (bits >> 62 != 1) std::abort();  // another swizzle
      return {bytes(0), bytes(16), bytes(32), words[4 + i] != 0};
    };
    return {side(0), side(1), element, columns};
  }
};

inline float ToFloat(uint16_t bits, Element element) {
  if (element == kF16) return static_cast<float>(std::bit_cast<_Float16>(bits));
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// read(offset): the two bytes there of shared memory.
template <class ReadElement>
std::vector<float> SumsOf(const WarpgroupProduct& product, uint32_t thread,
                          const ReadElement& read) {
  constexpr uint32_t kDepth = 16;
  const uint32_t lane = thread % 32, warp = thread / 32 % 4;
  const auto value = [&](const WarpgroupProduct::Side& side, uint32_t line,
                         uint32_t depth) {
    return ToFloat(read(side.Offset(line, depth)), product.element);
  };
  float rows[2][kDepth];
  for (uint32_t i = 0; i < 2; ++i) {
    for (uint32_t k = 0; k < kDepth; ++k) {
      rows[i][k] = value(product.left, 16 * warp + lane / 4 + 8 * i, k);
    }
  }
  std::vector<float> sums(product.columns / 2);
  for (uint32_t column = 0; column < product.columns; column += 8) {
    for (uint32_t j = 0; j < 2; ++j) {
      for (uint32_t k = 0; k < kDepth; ++k) {
        const float x = value(product.right, column + 2 * (lane % 4) + j, k);
        for (uint32_t i = 0; i < 2; ++i) {
          sums[column / 2 + 2 * i + j] += rows[i][k] * x;
        }
      }
    }
  }
  return sums;
}

}  // namespace mxc::runtime
