// SPDX-License-Identifier: Apache-2.0
#include "ir/program/int4_blocks.h"

#include <algorithm>
#include <cmath>

#include "ir/support/check.h"

namespace mxc {
namespace {

constexpr float kLargestLevel = 127;
constexpr float kLeastBits = -8, kMostBits = 7;
// A group's value of greatest magnitude may become so many bits.
constexpr float kUnits[] = {-6.6F, -7.0F, -7.4F, -7.7F, -8.0F, -8.4F, -8.8F};
constexpr float kLeastUnit = 6.6F;

// To the nearest integer, even ones where two are; without a call of libm.
float Rounded(float value) {
  constexpr float kIntegersFrom = 0x1.8p23F;
  return (value + kIntegersFrom) - kIntegersFrom;
}

// What is not a number becomes the least.
float Within(float value, float least, float most) {
  return value > least ? std::min(value, most) : least;
}

float Quantized(float value, float unit) {
  return Rounded(Within(value / unit, kLeastBits, kMostBits));
}

float LargestOf(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) {
    if (std::abs(value) > std::abs(largest)) largest = value;
  }
  return largest;
}

double SquaredError(std::span<const float> values, float unit) {
  double sum = 0;
  for (const float value : values) {
    const double error = value - unit * Quantized(value, unit);
    sum += error * error;
  }
  return sum;
}

// The value of greatest magnitude is near the end of the bits of which there is
// one more, -8: its sign is the level's. Units around that clip it, or round the
// others less.
int BestLevel(std::span<const float> values, float scale) {
  const float largest = LargestOf(values);
  if (largest == 0) return 1;
  int best = 0;
  double least = HUGE_VAL;
  for (const float bits : kUnits) {
    const auto level = static_cast<int>(
        Rounded(Within(largest / bits / scale, -kLargestLevel, kLargestLevel)));
    if (level == 0) continue;
    const double error =
        SquaredError(values, static_cast<float>(level) * scale);
    if (error >= least) continue;
    least = error;
    best = level;
  }
  return best == 0 ? 1 : best;
}

}  // namespace

float Int4Scale(std::span<const float> inputs) {
  const float largest = std::abs(LargestOf(inputs));
  return largest > 0 ? largest / kLeastUnit / kLargestLevel : 1;
}

void PackInt4(std::span<const float> inputs, int64_t group, float scale,
              std::byte* blocks) {
  const auto size = static_cast<size_t>(group);
  MXC_CHECK(size % 2 == 0 && inputs.size() % size == 0, "{} of {}",
            inputs.size(), group);
  for (size_t first = 0; first < inputs.size(); first += size) {
    const std::span<const float> values = inputs.subspan(first, size);
    const int level = BestLevel(values, scale);
    const float unit = static_cast<float>(level) * scale;
    *blocks++ = static_cast<std::byte>(level + kInt4LevelZero);
    const auto bits = [&](size_t i) {
      return static_cast<int>(Quantized(values[i], unit)) + kInt4Zero;
    };
    for (size_t i = 0; i < size; i += 2) {
      *blocks++ = static_cast<std::byte>(bits(i) + 16 * bits(i + 1));
    }
  }
}

std::vector<Element> Int4Levels(const Contraction& c,
                                std::span<const Element> bytes) {
  const int64_t block_bytes = Int4BlockBytes(c.int4_group);
  std::vector<Element> weights;
  weights.reserve(static_cast<size_t>(c.out * c.in));
  for (size_t block = 0; block < bytes.size();
       block += static_cast<size_t>(block_bytes)) {
    const Element level = bytes[block] - kInt4LevelZero;
    for (int64_t j = 0; j < c.int4_group / 2; ++j) {
      const auto pair =
          static_cast<int>(bytes[block + 1 + static_cast<size_t>(j)]);
      weights.push_back((pair % 16 - kInt4Zero) * level);
      weights.push_back((pair / 16 - kInt4Zero) * level);
    }
  }
  return weights;
}

Expr Int4Level(const std::function<Expr(const Expr& byte)>& load, const Expr& b,
               const Expr& j, const Expr& h, int64_t group, DType dtype) {
  constexpr DType kWord = DType::kI32;
  const Expr block = b * Expr(Int4BlockBytes(group));
  const Expr shift = Cast(h * Expr(4), kWord);
  const Expr bits =
      BitAnd(ShiftRight(Cast(load(block + j + Expr(1)), kWord), shift),
             Constant(15, kWord));
  const auto centred = [&](const Expr& value, int zero) {
    return Cast(value - Constant(zero, kWord), dtype);
  };
  return centred(bits, kInt4Zero) *
         centred(Cast(load(block), kWord), kInt4LevelZero);
}

}  // namespace mxc
