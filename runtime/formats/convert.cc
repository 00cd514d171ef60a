// SPDX-License-Identifier: Apache-2.0
#include "runtime/formats/convert.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace mxc::runtime {
namespace {

// Types that C++ lacks, by their bits.
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T>;

double Value(Half half) {
  const uint32_t bits = half.bits & 0x7fffu;
  float magnitude = std::bit_cast<float>(bits << 13) * 0x1p112f;
  if (bits >= 0x7c00u) magnitude = bits == 0x7c00u ? INFINITY : NAN;
  return half.bits >> 15 != 0 ? -magnitude : magnitude;
}

double Value(Brain brain) {
  return std::bit_cast<float>(uint32_t{brain.bits} << 16);
}

template <class T>
T Value(T value) {
  return value;
}

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

void Set(double value, Brain& brain) {
  const uint32_t bits = OddBits(value);
  brain.bits = static_cast<uint16_t>(
      std::isnan(value) ? bits >> 16 | 0x40u : RoundedShift(bits, 16));
}

void Set(double value, Half& half) {
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
  half.bits = static_cast<uint16_t>(sign | rounded);
}

template <class Integer>
Integer Cut(double value) {
  constexpr double kEnd = -static_cast<double>(
      std::numeric_limits<Integer>::min());  // the first that does not fit
  const bool fits = value > -kEnd - 1 && value < kEnd;
  return fits ? static_cast<Integer>(value)
              : std::numeric_limits<Integer>::min();
}

template <class From, class To>
  requires std::is_arithmetic_v<To>
void Set(From value, To& to) {
  if constexpr (!kIsFloat<From> || kIsFloat<To>) {
    to = static_cast<To>(value);
  } else if constexpr (std::is_same_v<To, uint64_t>) {
    to = value >= 0x1p63 && value < 0x1p64
             ? static_cast<uint64_t>(value)
             : static_cast<uint64_t>(Cut<int64_t>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    to = value != 0;
  } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, uint32_t>) {
    to = static_cast<To>(Cut<int64_t>(value));
  } else {
    to = static_cast<To>(Cut<int32_t>(value));
  }
}

// Calls `use` with an element of the C++ type.
template <class Use>
void WithType(ElementType type, Use use) {
  switch (type) {
    case ElementType::kF32:
      return use(float{});
    case ElementType::kF64:
      return use(double{});
    case ElementType::kF16:
      return use(Half{});
    case ElementType::kBF16:
      return use(Brain{});
    case ElementType::kBool:
      return use(bool{});
    case ElementType::kU8:
      return use(uint8_t{});
    case ElementType::kI8:
      return use(int8_t{});
    case ElementType::kI16:
      return use(int16_t{});
    case ElementType::kU16:
      return use(uint16_t{});
    case ElementType::kI32:
      return use(int32_t{});
    case ElementType::kU32:
      return use(uint32_t{});
    case ElementType::kI64:
      return use(int64_t{});
    case ElementType::kU64:
      return use(uint64_t{});
  }
}

// A file's bool may be any byte.
template <class T>
T Read(const std::byte* at) {
  if constexpr (std::is_same_v<T, bool>) return *at != std::byte{0};
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

void ConvertElements(ElementType from_type, std::span<const std::byte> from,
                     ElementType to_type, std::span<std::byte> to) {
  if (from_type == to_type) {
    std::memcpy(to.data(), from.data(), to.size());
    return;
  }
  WithType(from_type, [&]<class From>(From) {
    WithType(to_type, [&]<class To>(To element) {
      const size_t count = to.size() / sizeof element;
      for (size_t i = 0; i < count; ++i) {
        Set(Value(Read<From>(&from[i * sizeof(From)])), element);
        std::memcpy(&to[i * sizeof element], &element, sizeof element);
      }
    });
  });
}

}  // namespace mxc::runtime
