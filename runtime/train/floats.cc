// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/floats.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace mxc::train {
namespace {

float FromHalf(uint16_t bits) {
  const uint32_t exponent = bits >> 10 & 31u, fraction = bits & 1023u;
  float magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 1024),
                           static_cast<int>(exponent) - 25);
  }
  return bits & 0x8000u ? -magnitude : magnitude;
}

float FromBfloat16(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

template <class T>
float Cast(T value) {
  return static_cast<float>(value);
}

template <class T>
void Convert(std::span<const std::byte> elements, float (*convert)(T),
             std::span<float> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    T element;
    std::memcpy(&element, elements.data() + i * sizeof element, sizeof element);
    values[i] = convert(element);
  }
}

}  // namespace

void ToFloats(runtime::ElementType type, std::span<const std::byte> elements,
              std::span<float> values) {
  using runtime::ElementType;
  switch (type) {
    case ElementType::kF32:
      return Convert<float>(elements, Cast, values);
    case ElementType::kF64:
      return Convert<double>(elements, Cast, values);
    case ElementType::kF16:
      return Convert<uint16_t>(elements, FromHalf, values);
    case ElementType::kBF16:
      return Convert<uint16_t>(elements, FromBfloat16, values);
    case ElementType::kBool:
    case ElementType::kU8:
      return Convert<uint8_t>(elements, Cast, values);
    case ElementType::kI8:
      return Convert<int8_t>(elements, Cast, values);
    case ElementType::kI16:
      return Convert<int16_t>(elements, Cast, values);
    case ElementType::kU16:
      return Convert<uint16_t>(elements, Cast, values);
    case ElementType::kI32:
      return Convert<int32_t>(elements, Cast, values);
    case ElementType::kU32:
      return Convert<uint32_t>(elements, Cast, values);
    case ElementType::kI64:
      return Convert<int64_t>(elements, Cast, values);
    case ElementType::kU64:
      return Convert<uint64_t>(elements, Cast, values);
  }
}

}  // namespace mxc::train
