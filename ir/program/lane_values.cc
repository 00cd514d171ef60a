// SPDX-License-Identifier: Apache-2.0
#include "ir/program/lane_values.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "ir/program/integers.h"

namespace mxc {
namespace {

using Values = LaneValues;

// Inverse error function: Winitzki's approximation, then four Newton steps.
double ErfInverse(double x) {
  if (x <= -1 || x >= 1) {
    if (x == 1) return std::numeric_limits<double>::infinity();
    if (x == -1) return -std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double l = std::log1p(-x * x), a = 0.147;
  const double t = 2 / (M_PI * a) + l / 2;
  double y = std::copysign(std::sqrt(std::sqrt(t * t - l / a) - t), x);
  for (int i = 0; i < 4; ++i) {
    y -= (std::erf(y) - x) / (2 / std::sqrt(M_PI) * std::exp(-y * y));
  }
  return y;
}

// Raised by the recurrence until the asymptotic series holds (Abramowitz and
// Stegun, 6.3.5 to 6.3.18).
double Digamma(double x) {
  if (x <= 0 && x == std::floor(x)) {
    return std::numeric_limits<double>::infinity();  // as MXNet has it
  }
  if (x < 0.5) return Digamma(1 - x) - M_PI / std::tan(M_PI * x);
  double lift = 0;
  for (; x < 12; ++x) lift += 1 / x;
  const double w = 1 / (x * x);
  const double series =
      w *
      (1.0 / 12 -
       w * (1.0 / 120 - w * (1.0 / 252 - w * (1.0 / 240 - w * (1.0 / 132)))));
  return std::log(x) - 0.5 / x - series - lift;
}

// 32 bits of a float of that type, from bit `from` on.
double WordOf(DType dtype, double value, int from) {
  if (dtype == DType::kF32) {
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  }
  return static_cast<uint32_t>(std::bit_cast<uint64_t>(value) >> from);
}

// Integers wrap around; what has a fraction is cut.
Values ApplyToIntegers(UnaryOp op, DType dtype, const Values& x) {
  if (dtype == DType::kBool) return x;
  switch (op) {
    case UnaryOp::kNeg:
      return Apply([=](Element v) { return Wrapped(-v, dtype); }, x);
    case UnaryOp::kAbs:
      return Apply([=](Element v) { return Wrapped(std::fabs(v), dtype); }, x);
    case UnaryOp::kSign:
      return Apply([](Element v) -> Element { return (v > 0) - (v < 0); }, x);
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kTrunc:
    case UnaryOp::kRound:
    case UnaryOp::kRoundEven:
      return x;
    default:
      return Apply([=](Element v) { return Truncated(v, dtype); },
                   ApplyUnary(op, DType::kF64, x));
  }
}

// Indices are far from the largest integers: no words of bits are needed.
template <class F>
Values ApplyToIndices(BinaryOp op, F f, const Values& a, const Values& b) {
  // Sums and products below this are held by Element as they are.
  constexpr Element kExact = 0x1p62L;
  return Apply(
      [=](Element x, Element y) {
        const Element result = f(x, y) + 0;  // no -0, which integers lack
        const bool exact = result > -kExact && result < kExact;
        return exact ? result : IntegerResult(op, DType::kI64, x, y);
      },
      a, b);
}

Values ApplyToIntegers(BinaryOp op, DType dtype, const Values& a,
                       const Values& b) {
  const auto with = [&](auto f) { return Apply(f, a, b); };
  switch (op) {
    case BinaryOp::kMin:
      return with([](Element x, Element y) { return y < x ? y : x; });
    case BinaryOp::kMax:
      return with([](Element x, Element y) { return x < y ? y : x; });
    case BinaryOp::kLess:
      return with([](Element x, Element y) -> Element { return x < y; });
    case BinaryOp::kLessEqual:
      return with([](Element x, Element y) -> Element { return x <= y; });
    case BinaryOp::kEqual:
      return with([](Element x, Element y) -> Element { return x == y; });
    case BinaryOp::kNotEqual:
      return with([](Element x, Element y) -> Element { return x != y; });
    case BinaryOp::kAnd:
      return with(
          [](Element x, Element y) -> Element { return x != 0 && y != 0; });
    case BinaryOp::kOr:
      return with(
          [](Element x, Element y) -> Element { return x != 0 || y != 0; });
    default:
      break;
  }
  if (dtype == DType::kI64 && op == BinaryOp::kAdd) {
    return ApplyToIndices(op, std::plus<Element>(), a, b);
  }
  if (dtype == DType::kI64 && op == BinaryOp::kSub) {
    return ApplyToIndices(op, std::minus<Element>(), a, b);
  }
  if (dtype == DType::kI64 && op == BinaryOp::kMul) {
    return ApplyToIndices(op, std::multiplies<Element>(), a, b);
  }
  return with(
      [=](Element x, Element y) { return IntegerResult(op, dtype, x, y); });
}

}  // namespace

Values ApplyUnary(UnaryOp op, DType dtype, const Values& x) {
  if (!IsFloat(dtype) && op != UnaryOp::kNot && op != UnaryOp::kIsNan) {
    return ApplyToIntegers(op, dtype, x);
  }
  switch (op) {
    case UnaryOp::kNeg:
      return Apply([](double v) { return -v; }, x);
    case UnaryOp::kAbs:
      return Apply([](double v) { return std::fabs(v); }, x);
    case UnaryOp::kSign:
      return Apply(
          [](double v) { return std::isnan(v) ? v : (v > 0) - (v < 0.0); }, x);
    case UnaryOp::kNot:
      return Apply([](double v) -> double { return v == 0; }, x);
    case UnaryOp::kFloor:
      return Apply([](double v) { return std::floor(v); }, x);
    case UnaryOp::kCeil:
      return Apply([](double v) { return std::ceil(v); }, x);
    case UnaryOp::kTrunc:
      return Apply([](double v) { return std::trunc(v); }, x);
    case UnaryOp::kRound:
      return Apply([](double v) { return std::round(v); }, x);
    case UnaryOp::kRoundEven:
      return Apply([](double v) { return std::nearbyint(v); }, x);
    case UnaryOp::kSqrt:
      return Apply([](double v) { return std::sqrt(v); }, x);
    case UnaryOp::kCbrt:
      return Apply([](double v) { return std::cbrt(v); }, x);
    case UnaryOp::kExp:
      return Apply([](double v) { return std::exp(v); }, x);
    case UnaryOp::kExpm1:
      return Apply([](double v) { return std::expm1(v); }, x);
    case UnaryOp::kLog:
      return Apply([](double v) { return std::log(v); }, x);
    case UnaryOp::kLog1p:
      return Apply([](double v) { return std::log1p(v); }, x);
    case UnaryOp::kLog2:
      return Apply([](double v) { return std::log2(v); }, x);
    case UnaryOp::kLog10:
      return Apply([](double v) { return std::log10(v); }, x);
    case UnaryOp::kSin:
      return Apply([](double v) { return std::sin(v); }, x);
    case UnaryOp::kCos:
      return Apply([](double v) { return std::cos(v); }, x);
    case UnaryOp::kTan:
      return Apply([](double v) { return std::tan(v); }, x);
    case UnaryOp::kAsin:
      return Apply([](double v) { return std::asin(v); }, x);
    case UnaryOp::kAcos:
      return Apply([](double v) { return std::acos(v); }, x);
    case UnaryOp::kAtan:
      return Apply([](double v) { return std::atan(v); }, x);
    case UnaryOp::kSinh:
      return Apply([](double v) { return std::sinh(v); }, x);
    case UnaryOp::kCosh:
      return Apply([](double v) { return std::cosh(v); }, x);
    case UnaryOp::kTanh:
      return Apply([](double v) { return std::tanh(v); }, x);
    case UnaryOp::kAsinh:
      return Apply([](double v) { return std::asinh(v); }, x);
    case UnaryOp::kAcosh:
      return Apply([](double v) { return std::acosh(v); }, x);
    case UnaryOp::kAtanh:
      return Apply([](double v) { return std::atanh(v); }, x);
    case UnaryOp::kErf:
      return Apply([](double v) { return std::erf(v); }, x);
    case UnaryOp::kErfinv:
      return Apply(ErfInverse, x);
    case UnaryOp::kGamma:
      return Apply([](double v) { return std::tgamma(v); }, x);
    case UnaryOp::kLogGamma:
      return Apply([](double v) { return std::lgamma(v); }, x);
    case UnaryOp::kDigamma:
      return Apply(Digamma, x);
    case UnaryOp::kIsNan:
      return Apply([](double v) -> double { return std::isnan(v); }, x);
    case UnaryOp::kBits:
      return Apply([=](double v) { return WordOf(dtype, v, 0); }, x);
    case UnaryOp::kHighBits:
      return Apply([=](double v) { return WordOf(dtype, v, 32); }, x);
  }
  MXC_CHECK(false);
  return {};
}

Values ApplyBinary(BinaryOp op, DType dtype, const Values& a, const Values& b) {
  if (!IsFloat(dtype)) return ApplyToIntegers(op, dtype, a, b);
  switch (op) {
    case BinaryOp::kAdd:
      return Apply([](double x, double y) { return x + y; }, a, b);
    case BinaryOp::kSub:
      return Apply([](double x, double y) { return x - y; }, a, b);
    case BinaryOp::kMul:
      return Apply([](double x, double y) { return x * y; }, a, b);
    case BinaryOp::kDiv:
      return Apply([](double x, double y) { return x / y; }, a, b);
    case BinaryOp::kMod:
      return Apply(
          [](double x, double y) -> double { return FloorRemainder(x, y); }, a,
          b);
    case BinaryOp::kPow:
      return Apply([](double x, double y) { return std::pow(x, y); }, a, b);
    case BinaryOp::kMax:
      return Apply(
          [](double x, double y) { return std::isnan(x) || x > y ? x : y; }, a,
          b);
    case BinaryOp::kMin:
      return Apply(
          [](double x, double y) { return std::isnan(x) || x < y ? x : y; }, a,
          b);
    case BinaryOp::kLess:
      return Apply([](double x, double y) -> double { return x < y; }, a, b);
    case BinaryOp::kLessEqual:
      return Apply([](double x, double y) -> double { return x <= y; }, a, b);
    case BinaryOp::kEqual:
      return Apply([](double x, double y) -> double { return x == y; }, a, b);
    case BinaryOp::kNotEqual:
      return Apply([](double x, double y) -> double { return x != y; }, a, b);
    case BinaryOp::kAnd:
      return Apply(
          [](double x, double y) -> double { return x != 0 && y != 0; }, a, b);
    case BinaryOp::kOr:
      return Apply(
          [](double x, double y) -> double { return x != 0 || y != 0; }, a, b);
    default:
      break;
  }
  MXC_CHECK(false);
  return {};
}

}  // namespace mxc
