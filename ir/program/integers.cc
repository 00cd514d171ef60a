// SPDX-License-Identifier: Apache-2.0
#include "ir/program/integers.h"

#include <algorithm>
#include <cmath>

namespace mxc {
namespace {

constexpr double kLeastSigned = -9223372036854775808.0;
// The largest double below 2^64.
constexpr double kMostUnsigned = 18446744073709549568.0;

uint64_t BitsOf(double value) {
  if (value < 0) {
    return static_cast<uint64_t>(
        static_cast<int64_t>(std::max(value, kLeastSigned)));
  }
  return static_cast<uint64_t>(std::min(value, kMostUnsigned));
}

double WrappedBits(uint64_t bits, DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return static_cast<uint8_t>(bits);
    case DType::kI8:
      return static_cast<int8_t>(bits);
    case DType::kU16:
      return static_cast<uint16_t>(bits);
    case DType::kI16:
      return static_cast<int16_t>(bits);
    case DType::kU32:
      return static_cast<uint32_t>(bits);
    case DType::kI32:
      return static_cast<int32_t>(bits);
    case DType::kU64:
      return static_cast<double>(bits);
    case DType::kI64:
      return static_cast<double>(static_cast<int64_t>(bits));
    default:
      return static_cast<double>(bits & 1);
  }
}

double FloorDivide(double a, double b) {
  return b == 0 ? 0 : std::floor(a / b);
}

// The bits below those of the type.
uint64_t OwnBits(double value, DType dtype) {
  const int64_t size = SizeOf(dtype);
  const uint64_t bits = BitsOf(value);
  return size == 8 ? bits : bits & ((uint64_t{1} << 8 * size) - 1);
}

double Bitwise(BinaryOp op, DType dtype, double a, double b) {
  const uint64_t x = OwnBits(a, dtype), y = OwnBits(b, dtype);
  switch (op) {
    case BinaryOp::kBitAnd:
      return WrappedBits(x & y, dtype);
    case BinaryOp::kBitXor:
      return WrappedBits(x ^ y, dtype);
    case BinaryOp::kShiftRight:
      return WrappedBits(
          y < static_cast<uint64_t>(8 * SizeOf(dtype)) ? x >> y : 0, dtype);
    default:  // kMulHigh, of u32
      return WrappedBits(x * y >> 32, dtype);
  }
}

}  // namespace

double FloorRemainder(double a, double b) {
  if (b == 0) return 0;
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

double Wrapped(double value, DType dtype) {
  const bool wide = dtype == DType::kI64;
  return wide ? value : WrappedBits(BitsOf(value), dtype);
}

double Truncated(double value, DType dtype) {
  if (dtype == DType::kU64) {
    if (!(value > 0)) return 0;
    return WrappedBits(BitsOf(std::trunc(value)), dtype);
  }
  const bool wide = dtype == DType::kI64 || dtype == DType::kU32;
  const double limit = std::ldexp(1, wide ? 63 : 31);
  const bool fits = value > (wide ? -limit : -limit - 1) && value < limit;
  return Wrapped(fits ? std::trunc(value) : -limit, dtype);
}

double IntegerResult(BinaryOp op, DType dtype, double a, double b) {
  // Index arithmetic stays far from the limits of i64.
  const bool wraps = dtype != DType::kI64 && dtype != DType::kBool;
  switch (op) {
    case BinaryOp::kAdd:
      return wraps ? WrappedBits(BitsOf(a) + BitsOf(b), dtype) : a + b;
    case BinaryOp::kSub:
      return wraps ? WrappedBits(BitsOf(a) - BitsOf(b), dtype) : a - b;
    case BinaryOp::kMul:
      return wraps ? WrappedBits(BitsOf(a) * BitsOf(b), dtype) : a * b;
    case BinaryOp::kDiv:
      return FloorDivide(a, b);
    case BinaryOp::kMod:
      return FloorRemainder(a, b);
    case BinaryOp::kPow:
      return std::pow(a, b);
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kBitAnd:
    case BinaryOp::kBitXor:
    case BinaryOp::kShiftRight:
    case BinaryOp::kMulHigh:
      return Bitwise(op, dtype, a, b);
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
