// SPDX-License-Identifier: Apache-2.0
// Element types and conversions between their elements.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

namespace mxc::runtime {

enum class ElementType : int8_t {
#define X(name, flag, bits, kind, mxnet_name, short_name) k##name = flag,
#include "runtime/abi/dtype.def"
};

enum class ElementKind : uint8_t { FLOAT, SIGNED, UNSIGNED, BOOL };

struct ElementFacts {
  std::string_view name, short_name, c_type;
  int64_t bytes;
  ElementKind kind;
};

// Indexed by type flag.
inline constexpr ElementFacts kElementFacts[] = {
#define X(name, flag, bits, kind, mxnet_name, short_name) \
  {mxnet_name, short_name, #bits, sizeof(bits), ElementKind::kind},
#include "runtime/abi/dtype.def"
};

constexpr std::optional<ElementType> ElementTypeFromFlag(int64_t flag) {
  if (flag < 0 || flag >= std::ssize(kElementFacts)) return std::nullopt;
  return static_cast<ElementType>(flag);
}
constexpr const ElementFacts& FactsOf(ElementType type) {
  return kElementFacts[static_cast<size_t>(type)];
}
constexpr int64_t ElementBytes(ElementType type) { return FactsOf(type).bytes; }
constexpr std::string_view ElementName(ElementType type) {
  return FactsOf(type).name;
}
constexpr bool IsFloat(ElementType type) {
  return FactsOf(type).kind == ElementKind::FLOAT;
}

// Types that C++ lacks, by their bits.
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};

// The value of an element. Exact; that of a Half or a Brain is a double.
double ValueOf(Half half);
double ValueOf(Brain brain);
template <class T>
  requires std::is_arithmetic_v<T>
constexpr T ValueOf(T element) {
  return element;
}

// Writes the element that `value` becomes, as MXNet's and NumPy's astype do on
// x86: floats round to even; what has a fraction is cut to an integer, whose
// low bits count where the type is narrower; what no 32 bits hold (64 for
// int64, uint32 and uint64) and NaN become the integer of the highest bit
// alone; bool is whether the value is not 0.
void SetElement(double value, Half& element);
void SetElement(double value, Brain& element);

// A float towards zero; the least integer where the result does not fit.
template <class Integer, class Float>
Integer CutToInteger(Float value) {
  constexpr Float kEnd = -static_cast<Float>(
      std::numeric_limits<Integer>::min());  // the first that does not fit
  const bool fits = value > -kEnd - 1 && value < kEnd;
  return fits ? static_cast<Integer>(value)
              : std::numeric_limits<Integer>::min();
}

template <class From, class To>
  requires std::is_arithmetic_v<To>
void SetElement(From value, To& element) {
  if constexpr (!std::is_floating_point_v<From> ||
                std::is_floating_point_v<To>) {
    element = static_cast<To>(value);
  } else if constexpr (std::is_same_v<To, uint64_t>) {
    element = value >= 0x1p63 && value < 0x1p64
                  ? static_cast<uint64_t>(value)
                  : static_cast<uint64_t>(CutToInteger<int64_t>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    element = value != 0;
  } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, uint32_t>) {
    element = static_cast<To>(CutToInteger<int64_t>(value));
  } else {
    element = static_cast<To>(CutToInteger<int32_t>(value));
  }
}

// The C++ type of a type's elements.
template <ElementType type, class Bits>
struct CppElement {
  using Type = Bits;
};
template <>
struct CppElement<ElementType::kF16, uint16_t> {
  using Type = Half;
};
template <>
struct CppElement<ElementType::kBF16, uint16_t> {
  using Type = Brain;
};
template <>
struct CppElement<ElementType::kBool, uint8_t> {
  using Type = bool;
};

// Calls `use` with an element of the C++ type and returns what it returns.
template <class Use>
auto WithElementOf(ElementType type, Use use) {
  switch (type) {
#define X(name, flag, bits, kind, mxnet_name, short_name) \
  case ElementType::k##name:                              \
    return use(typename CppElement<ElementType::k##name, bits>::Type{});
#include "runtime/abi/dtype.def"
  }
  __builtin_unreachable();
}

// A file's bool may be any byte.
template <class T>
T ReadElement(const std::byte* at) {
  if constexpr (std::is_same_v<T, bool>) {
    return *at != std::byte{0};
  } else {
    T element;
    std::memcpy(&element, at, sizeof element);
    return element;
  }
}

}  // namespace mxc::runtime
