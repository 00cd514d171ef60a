// SPDX-License-Identifier: Apache-2.0
// Derivatives of kernel IR against central differences.
#include "ir/program/derivative.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "ir/program/evaluator.h"
#include "ir/program/names.h"

namespace mxc {
namespace {

const Expr kX = Load(0, DType::kF64, {Var(0)});
const Expr kY = Load(1, DType::kF64, {Var(0)});

double At(const Expr& e, double x, double y) {
  const std::vector<Element> xs = {x}, ys = {y};
  Evaluator evaluator({{xs, {1}}, {ys, {1}}});
  return evaluator.Evaluate(e, 1, {{0.0}})[0];
}

void CheckSlopes(const Expr& e, double x, double y) {
  const double step = 1e-6;
  CAPTURE(Print(e));
  CAPTURE(x);
  CAPTURE(y);
  const double by_x = (At(e, x + step, y) - At(e, x - step, y)) / (2 * step);
  const double by_y = (At(e, x, y + step) - At(e, x, y - step)) / (2 * step);
  CHECK(At(Derivative(e, 0), x, y) == doctest::Approx(by_x).epsilon(1e-7));
  CHECK(At(Derivative(e, 1), x, y) == doctest::Approx(by_y).epsilon(1e-7));
}

// Where a function of one variable is smooth.
std::vector<double> PlacesFor(UnaryOp op) {
  switch (op) {
    case UnaryOp::kSqrt:
    case UnaryOp::kLog:
    case UnaryOp::kLog2:
    case UnaryOp::kLog10:
    case UnaryOp::kLog1p:
      return {0.3, 1.7, 5.2};
    case UnaryOp::kAcosh:
      return {1.2, 3.7};
    case UnaryOp::kAsin:
    case UnaryOp::kAcos:
    case UnaryOp::kAtanh:
    case UnaryOp::kErfinv:
      return {-0.7, 0.1, 0.6};
    case UnaryOp::kGamma:
    case UnaryOp::kLogGamma:
    case UnaryOp::kDigamma:
      return {-1.6, -0.4, 0.3, 1.4, 7.6, 23.1};
    default:
      return {-1.3, -0.2, 0.4, 2.7};
  }
}

TEST_CASE("the slope of every function of one variable") {
  for (size_t i = 0; i < kUnaryNames.size(); ++i) {
    const auto op = static_cast<UnaryOp>(i);
    // Its slope, the trigamma function, nobody asks for.
    if (op == UnaryOp::kDigamma) continue;
    if (op == UnaryOp::kBits || op == UnaryOp::kHighBits) {
      CHECK(IsConst(Derivative(Cast(Unary(op, kX), DType::kF64), 0), 0));
      continue;
    }
    if (op == UnaryOp::kNot || op == UnaryOp::kIsNan) {
      const Expr truth = Cast(Unary(op, kX > Lit(0, kX)), DType::kF64);
      if (op == UnaryOp::kNot) CHECK(IsConst(Derivative(truth, 0), 0));
      continue;
    }
    const Expr f = Unary(op, kX);
    for (const double x : PlacesFor(op)) {
      CheckSlopes(f, x, 0.5);
      // The chain rule.
      CheckSlopes(Unary(op, kX * Lit(0.9, kX)), x, 0.5);
    }
  }
}

TEST_CASE("the slopes of every function of two variables") {
  for (size_t i = 0; i < kBinaryNames.size(); ++i) {
    const auto op = static_cast<BinaryOp>(i);
    const bool of_bits = op >= BinaryOp::kBitAnd && op <= BinaryOp::kMulHigh;
    if (of_bits || op == BinaryOp::kAnd || op == BinaryOp::kOr) continue;
    const Expr value = Binary(op, kX, kY);
    const Expr f = IsFloat(value->dtype) ? value : Cast(value, DType::kF64);
    for (const double x : {0.6, 1.9, 3.4}) {
      for (const double y : {0.5, 1.3, 2.2}) CheckSlopes(f, x, y);
    }
  }
}

TEST_CASE("choices, conversions and shared subexpressions") {
  const Expr shared = Exp(kX * kY);
  CheckSlopes(shared * shared + shared, 0.3, -0.8);
  const Expr choice = Select(kX > kY, kX * kX, Unary(UnaryOp::kSin, kY));
  CheckSlopes(choice, 1.5, 0.5);
  CheckSlopes(choice, 0.5, 1.5);
  CheckSlopes(Cast(Cast(kX * kY, DType::kF32), DType::kF64) - kX * kY + kX * kX,
              0, 0);
  // An integer that depends on x passes nothing.
  CHECK(IsConst(Derivative(Cast(Cast(kX, DType::kI32), DType::kF64), 0), 0));
}

TEST_CASE("an operand that is not read has slope 0") {
  CHECK(IsConst(Derivative(kY * kY, 0), 0));
  CHECK(IsConst(Derivative(Exp(kX), 7), 0));
}

TEST_CASE("kinks are MXNet's") {
  CHECK(At(Derivative(Max(kX, kY), 0), 2, 2) == 1);
  CHECK(At(Derivative(Max(kX, kY), 1), 2, 2) == 0);
  CHECK(At(Derivative(Min(kX, kY), 0), 2, 2) == 1);
  CHECK(At(Derivative(Min(kX, kY), 1), 2, 2) == 0);
  CHECK(At(Derivative(Abs(kX), 0), 0, 0) == 0);
  CHECK(At(Derivative(Unary(UnaryOp::kSign, kX), 0), 0, 0) == 0);
}

TEST_CASE("the digamma function") {
  const auto digamma = [](double x) {
    return At(Unary(UnaryOp::kDigamma, kX), x, 0);
  };
  const double euler = 0.57721566490153286061;
  CHECK(digamma(1) == doctest::Approx(-euler).epsilon(1e-14));
  CHECK(digamma(0.5) ==
        doctest::Approx(-euler - 2 * std::log(2.0)).epsilon(1e-14));
  // ψ(x + 1) = ψ(x) + 1/x, on both sides of 0.
  for (const double x : {-7.3, -2.5, -0.6, 0.2, 3.1, 40.0}) {
    CHECK(digamma(x + 1) == doctest::Approx(digamma(x) + 1 / x).epsilon(1e-12));
  }
  CHECK(std::isinf(digamma(-3)));
}

}  // namespace
}  // namespace mxc
