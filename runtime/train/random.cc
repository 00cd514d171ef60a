// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/random.h"

#include <cmath>
#include <numbers>

namespace mxc::train {
namespace {

// The C library's log, sin and cos differ in their last bits from machine to
// machine. These need sums, products and one division, which IEEE 754 fixes
// (this library is compiled without fused multiply-add).

// ln(x) for 0 < x ≤ 1 by the series of artanh.
double Log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // [0.5, 1)
  if (m < std::numbers::sqrt2 / 2) {
    m *= 2;
    --exponent;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  double series = 0;
  for (int k = 23; k >= 1; k -= 2) series = series * square + 1.0 / k;
  return exponent * std::numbers::ln2 + 2 * s * series;
}

struct Direction {
  double cosine, sine;
};

// Of the angle 2π·turn, 0 ≤ turn < 1: the Taylor series within an eighth turn
// of an axis.
Direction Turn(double turn) {
  const int quarter = static_cast<int>(4 * turn + 0.5);
  const double angle = (4 * turn - quarter) * (std::numbers::pi / 2);
  const double square = angle * angle;
  double cosine = 1, sine = 1;
  for (int k = 16; k >= 2; k -= 2) {
    cosine = 1 - cosine * square / (k * (k - 1));
    sine = 1 - sine * square / (k * (k + 1));
  }
  sine *= angle;
  switch (quarter % 4) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

uint64_t HashName(std::string_view name) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

double ToUnit(uint32_t bits) { return (bits >> 8) * 0x1p-24; }  // [0, 1)

}  // namespace

RandomStream::RandomStream(uint64_t seed, std::string_view name)
    : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
      name_(HashName(name)) {}

std::array<uint32_t, 4> RandomStream::At(uint64_t counter) const {
  std::array<uint32_t, 4> x = {
      static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32),
      static_cast<uint32_t>(name_), static_cast<uint32_t>(name_ >> 32)};
  std::array<uint32_t, 2> key = key_;
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * x[0];
    const uint64_t b = uint64_t{0xCD9E8D57u} * x[2];
    x = {static_cast<uint32_t>(b >> 32) ^ x[1] ^ key[0],
         static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ x[3] ^ key[1],
         static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return x;
}

void RandomStream::FillUniform(double scale, std::span<float> values) const {
  for (size_t i = 0; i < values.size(); i += 4) {
    const auto bits = At(i / 4);
    for (size_t k = 0; k < 4 && i + k < values.size(); ++k) {
      values[i + k] = static_cast<float>((2 * ToUnit(bits[k]) - 1) * scale);
    }
  }
}

void RandomStream::FillNormal(double deviation, std::span<float> values) const {
  for (size_t i = 0; i < values.size(); i += 2) {
    const auto bits = At(i / 4);
    const size_t pair = i % 4;
    const double radius = std::sqrt(-2 * Log(1 - ToUnit(bits[pair])));
    const Direction direction = Turn(ToUnit(bits[pair + 1]));
    const double length = deviation * radius;
    values[i] = static_cast<float>(length * direction.cosine);
    if (i + 1 < values.size()) {
      values[i + 1] = static_cast<float>(length * direction.sine);
    }
  }
}

}  // namespace mxc::train
