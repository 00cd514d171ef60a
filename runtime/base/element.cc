// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/element.h"

#include <cmath>

namespace mxc::runtime {
namespace {

// `bits` without its last `count` bits, to the nearest, ties to even.
uint32_t RoundedShift(uint32_t bits, int count) {
  const uint32_t kept = bits >> count, rest = bits - (kept << count);
  const uint32_t half = 1u << (count - 1);
  return kept + (rest > half || (rest == half && kept % 2 != 0));
}

// The bits of a float that rounds as `value` does to any type of 22 bits or
// less: cut towards zero, with the last bit set where something was cut off.
uint32_t OddBits(double value) {
  const auto nearest = static_cast<float>(value);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::isnan(value) || nearest == value) return bits;
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return bits | 1u;
}

// Flags are in order.
#define X(type, flag, bits, kind, mxnet_name, tag) \
  static_assert(kElementFacts[flag].short_name == (tag));
#include "runtime/abi/dtype.def"

}  // namespace

double ValueOf(Half half) {
  const uint32_t bits = half.bits & 0x7fffu;
  float magnitude = std::bit_cast<float>(bits << 13) * 0x1p112f;
  if (bits >= 0x7c00u) magnitude = bits == 0x7c00u ? INFINITY : NAN;
  return half.bits >> 15 != 0 ? -magnitude : magnitude;
}

double ValueOf(Brain brain) {
  return std::bit_cast<float>(uint32_t{brain.bits} << 16);
}

void SetElement(double value, Brain& element) {
  const uint32_t bits = OddBits(value);
  element.bits = static_cast<uint16_t>(
      std::isnan(value) ? bits >> 16 | 0x40u : RoundedShift(bits, 16));
}

void SetElement(double value, Half& element) {
  const uint32_t bits = OddBits(value), magnitude = bits & 0x7fffffffu;
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
  const int exponent = static_cast<int>(magnitude >> 23) - 112;
  uint32_t rounded = 0x7c00;  // infinity
  if (std::isnan(value)) {
    rounded = 0x7e00;
  } else if (exponent > 0 && exponent < 31) {
    rounded = RoundedShift(magnitude - (112u << 23), 13);
  } else if (exponent <= 0 && exponent >= -10) {  // subnormal
    const uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
    rounded = RoundedShift(fraction, 14 - exponent);
  } else if (exponent < -10) {
    rounded = 0;
  }
  element.bits = static_cast<uint16_t>(sign | rounded);
}

}  // namespace mxc::runtime
