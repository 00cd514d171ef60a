// SPDX-License-Identifier: Apache-2.0
#include "ir/program/integers.h"

#include <algorithm>
#include <cmath>

namespace mxc {
namespace {

constexpr Element kTwoTo63 = 0x1p63L, kTwoTo64 = 0x1p64L;

bool IsSigned(DType dtype) {
  return dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kI32 ||
         dtype == DType::kI64;
}

int BitsOf(DType dtype) {
  return dtype == DType::kBool ? 1 : static_cast<int>(8 * SizeOf(dtype));
}

// Two's complement of 64 bits; the nearest where there is none.
uint64_t ToWord(Element value) {
  if (value < 0) {
    return static_cast<uint64_t>(
        static_cast<int64_t>(std::max(value, -kTwoTo63)));
  }
  return value < kTwoTo64 ? static_cast<uint64_t>(value) : ~uint64_t{0};
}

// What a type keeps of a word: its lowest bits, with their sign.
Element FromWord(uint64_t word, DType dtype) {
  const int unused = 64 - BitsOf(dtype);
  if (IsSigned(dtype)) return static_cast<int64_t>(word << unused) >> unused;
  return word << unused >> unused;
}

uint64_t Divide(bool is_signed, uint64_t a, uint64_t b) {
  if (b == 0) return 0;
  if (!is_signed) return a / b;
  const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  if (y == -1) return -a;
  const int64_t quotient = x / y;
  const bool below = x % y != 0 && (x < 0) != (y < 0);
  return static_cast<uint64_t>(quotient - (below ? 1 : 0));
}

}  // namespace

Element FloorRemainder(Element a, Element b) {
  if (b == 0) return 0;
  const Element r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

Element LeastInteger(DType dtype) {
  return IsSigned(dtype) ? -std::ldexp(Element{1}, BitsOf(dtype) - 1) : 0;
}

Element LargestInteger(DType dtype) {
  return std::ldexp(Element{1}, BitsOf(dtype) - IsSigned(dtype)) - 1;
}

Element Wrapped(Element value, DType dtype) {
  return FromWord(ToWord(value), dtype);
}

Element Truncated(Element value, DType dtype) {
  if (dtype == DType::kU64) {
    return value > 0 ? FromWord(ToWord(std::trunc(value)), dtype) : 0;
  }
  const bool wide = dtype == DType::kI64 || dtype == DType::kU32;
  const Element limit = wide ? kTwoTo63 : 0x1p31L;
  const bool fits = value > -limit - 1 && value < limit;
  return Wrapped(fits ? std::trunc(value) : -limit, dtype);
}

Element IntegerResult(BinaryOp op, DType dtype, Element a, Element b) {
  const uint64_t x = ToWord(a), y = ToWord(b);
  const auto word = [&](uint64_t result) { return FromWord(result, dtype); };
  if (dtype == DType::kBool && op == BinaryOp::kAdd) return x | y;
  switch (op) {
    case BinaryOp::kAdd:
      return word(x + y);
    case BinaryOp::kSub:
      return word(x - y);
    case BinaryOp::kMul:
      return word(x * y);
    case BinaryOp::kDiv:
      return word(Divide(IsSigned(dtype), x, y));
    case BinaryOp::kMod:
      return word(y == 0 ? 0 : x - y * Divide(IsSigned(dtype), x, y));
    case BinaryOp::kPow:
      return Truncated(std::nearbyint(std::pow(static_cast<double>(a),
                                               static_cast<double>(b))),
                       dtype);
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kBitAnd:
      return word(x & y);
    case BinaryOp::kBitXor:
      return word(x ^ y);
    case BinaryOp::kShiftRight: {
      const uint64_t own = ~uint64_t{0} >> (64 - BitsOf(dtype));
      const auto bits = static_cast<uint64_t>(BitsOf(dtype));
      return word((y & own) < bits ? (x & own) >> (y & own) : 0);
    }
    case BinaryOp::kMulHigh:
      return word(x * y >> 32);  // of u32
    case BinaryOp::kLess:
      return a < b;
    case BinaryOp::kLessEqual:
      return a <= b;
    case BinaryOp::kEqual:
      return a == b;
    case BinaryOp::kNotEqual:
      return a != b;
    case BinaryOp::kAnd:
      return a != 0 && b != 0;
    case BinaryOp::kOr:
      return a != 0 || b != 0;
  }
  return 0;
}

}  // namespace mxc
