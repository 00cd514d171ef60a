// SPDX-License-Identifier: Apache-2.0
#include "ir/program/derivative.h"

#include <numbers>
#include <unordered_map>

#include "ir/program/names.h"

namespace mxc {
namespace {

Expr Squared(const Expr& x) { return x * x; }
Expr Reciprocal(const Expr& x) { return Lit(1, x) / x; }

// f'(x), where y = f(x). Empty where it is zero everywhere.
Expr UnaryDerivative(UnaryOp op, const Expr& x, const Expr& y) {
  const auto lit = [&](double value) { return Lit(value, x); };
  switch (op) {
    case UnaryOp::kNeg:
      return lit(-1);
    case UnaryOp::kAbs:
      return Unary(UnaryOp::kSign, x);
    case UnaryOp::kSqrt:
      return lit(0.5) / y;
    case UnaryOp::kCbrt:
      return lit(1.0 / 3) / Squared(y);
    case UnaryOp::kExp:
      return y;
    case UnaryOp::kExpm1:
      return Exp(x);
    case UnaryOp::kLog:
      return Reciprocal(x);
    case UnaryOp::kLog1p:
      return Reciprocal(x + lit(1));
    case UnaryOp::kLog2:
      return lit(1 / std::numbers::ln2) / x;
    case UnaryOp::kLog10:
      return lit(1 / std::numbers::ln10) / x;
    case UnaryOp::kSin:
      return Unary(UnaryOp::kCos, x);
    case UnaryOp::kCos:
      return -Unary(UnaryOp::kSin, x);
    case UnaryOp::kTan:
      return lit(1) + Squared(y);
    case UnaryOp::kAsin:
      return Reciprocal(Sqrt(lit(1) - Squared(x)));
    case UnaryOp::kAcos:
      return lit(-1) / Sqrt(lit(1) - Squared(x));
    case UnaryOp::kAtan:
      return Reciprocal(lit(1) + Squared(x));
    case UnaryOp::kSinh:
      return Unary(UnaryOp::kCosh, x);
    case UnaryOp::kCosh:
      return Unary(UnaryOp::kSinh, x);
    case UnaryOp::kTanh:
      return lit(1) - Squared(y);
    case UnaryOp::kAsinh:
      return Reciprocal(Sqrt(Squared(x) + lit(1)));
    case UnaryOp::kAcosh:
      return Reciprocal(Sqrt(Squared(x) - lit(1)));
    case UnaryOp::kAtanh:
      return Reciprocal(lit(1) - Squared(x));
    case UnaryOp::kErf:
      return lit(2 * std::numbers::inv_sqrtpi) * Exp(-Squared(x));
    case UnaryOp::kErfinv:
      return lit(0.5 / std::numbers::inv_sqrtpi) * Exp(Squared(y));
    case UnaryOp::kSign:
    case UnaryOp::kNot:
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kTrunc:
    case UnaryOp::kRound:
    case UnaryOp::kRoundEven:
    case UnaryOp::kIsNan:
    case UnaryOp::kBits:
    case UnaryOp::kHighBits:
      return {};
    case UnaryOp::kGamma:
      return y * Unary(UnaryOp::kDigamma, x);
    case UnaryOp::kLogGamma:
      return Unary(UnaryOp::kDigamma, x);
    case UnaryOp::kDigamma:
      break;
  }
  MXC_CHECK(false, "the derivative of {}", FunctionName(op));
}

// Derivatives are empty where they are zero, so that nothing of zeros is built.
class Differentiator {
 public:
  explicit Differentiator(int operand) : operand_(operand) {}

  Expr Of(const Expr& e) {
    const auto [entry, added] = known_.try_emplace(e.get());
    if (added) {
      const Expr derivative = Compute(e);
      known_[e.get()] = derivative;
      return derivative;
    }
    return entry->second;
  }

 private:
  Expr Compute(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kConst:
      case ExprKind::kVar:
      case ExprKind::kAcc:
        return {};
      case ExprKind::kLoad:
        return e->index == operand_ ? Lit(1, e) : Expr();
      case ExprKind::kUnary:
        return Chain(UnaryDerivative, e);
      case ExprKind::kBinary:
        return OfBinary(e);
      case ExprKind::kSelect:
        return Choose(e->args[0], Of(e->args[1]), Of(e->args[2]), e);
      case ExprKind::kCast:
        return OfCast(e);
      case ExprKind::kReduce:
        MXC_CHECK(!Of(e->args[0]), "a reduction of the operand: {}", Print(e));
        return {};
    }
    return {};
  }

  template <class F>
  Expr Chain(F derivative, const Expr& e) {
    const Expr inner = Of(e->args[0]);
    if (!inner) return {};
    return Times(derivative(e->unary, e->args[0], e), inner);
  }

  Expr OfCast(const Expr& e) {
    const Expr inner = Of(e->args[0]);
    if (!inner || !IsFloat(e->dtype)) return {};
    return Cast(inner, e->dtype);
  }

  Expr OfBinary(const Expr& e) {
    const Expr &a = e->args[0], &b = e->args[1];
    const Expr da = Of(a), db = Of(b);
    if ((!da && !db) || !IsFloat(e->dtype)) return {};
    switch (e->binary) {
      case BinaryOp::kAdd:
        return Plus(da, db);
      case BinaryOp::kSub:
        return Plus(da, db ? -db : db);
      case BinaryOp::kMul:
        return Plus(Times(b, da), Times(a, db));
      case BinaryOp::kDiv:
        return Plus(da ? da / b : da, db ? -(db * a / Squared(b)) : db);
      case BinaryOp::kMod:
        return Plus(da, Times(-Unary(UnaryOp::kFloor, a / b), db));
      case BinaryOp::kPow:
        return Plus(da ? Times(b * Pow(a, b - Lit(1, b)), da) : da,
                    db ? Times(PowerOfLogarithm(e, a), db) : db);
      case BinaryOp::kMax:
        return Choose(a >= b, da, db, e);
      case BinaryOp::kMin:
        return Choose(a <= b, da, db, e);
      default:
        return {};
    }
  }

  // aᵇ log a, which goes to 0 with a where aᵇ does.
  static Expr PowerOfLogarithm(const Expr& power, const Expr& a) {
    return Select(power == Lit(0, power), Lit(0, power), power * Log(a));
  }

  static Expr Plus(const Expr& a, const Expr& b) {
    if (!a) return b;
    return b ? a + b : a;
  }
  static Expr Times(const Expr& factor, const Expr& d) {
    if (!d || !factor) return {};
    return IsConst(d, 1) ? factor : factor * d;
  }
  static Expr Choose(const Expr& condition, const Expr& a, const Expr& b,
                     const Expr& like) {
    if (!a && !b) return {};
    return Select(condition, a ? a : Lit(0, like), b ? b : Lit(0, like));
  }

  int operand_;
  std::unordered_map<const ExprNode*, Expr> known_;  // looked up only
};

}  // namespace

Expr Derivative(const Expr& e, int operand) {
  const Expr derivative = Differentiator(operand).Of(e);
  return derivative ? derivative : Lit(0, e);
}

}  // namespace mxc
