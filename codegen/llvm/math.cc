// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/math.h"

#include "codegen/llvm/math_f32.h"
#include "codegen/llvm/math_f64.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

using Function = FloatValue (*)(FloatValue);

// In f32 arithmetic; null: evaluated in f64.
Function NarrowFunction(UnaryOp op) {
  switch (op) {
    case UnaryOp::kExp:
      return math_f32::Exp;
    case UnaryOp::kLog:
      return math_f32::Log;
    case UnaryOp::kTanh:
      return math_f32::Tanh;
    case UnaryOp::kErf:
      return math_f32::Erf;
    default:
      return nullptr;
  }
}

Function WideFunction(UnaryOp op) {
  switch (op) {
    case UnaryOp::kExp:
      return math_f64::Exp;
    case UnaryOp::kExpm1:
      return math_f64::Expm1;
    case UnaryOp::kLog:
      return math_f64::Log;
    case UnaryOp::kLog1p:
      return math_f64::Log1p;
    case UnaryOp::kLog2:
      return math_f64::Log2;
    case UnaryOp::kLog10:
      return math_f64::Log10;
    case UnaryOp::kCbrt:
      return math_f64::Cbrt;
    case UnaryOp::kSin:
      return math_f64::Sin;
    case UnaryOp::kCos:
      return math_f64::Cos;
    case UnaryOp::kTan:
      return math_f64::Tan;
    case UnaryOp::kAsin:
      return math_f64::Asin;
    case UnaryOp::kAcos:
      return math_f64::Acos;
    case UnaryOp::kAtan:
      return math_f64::Atan;
    case UnaryOp::kSinh:
      return math_f64::Sinh;
    case UnaryOp::kCosh:
      return math_f64::Cosh;
    case UnaryOp::kTanh:
      return math_f64::Tanh;
    case UnaryOp::kAsinh:
      return math_f64::Asinh;
    case UnaryOp::kAcosh:
      return math_f64::Acosh;
    case UnaryOp::kAtanh:
      return math_f64::Atanh;
    case UnaryOp::kErf:
      return math_f64::Erf;
    case UnaryOp::kErfinv:
      return math_f64::Erfinv;
    case UnaryOp::kGamma:
      return math_f64::Gamma;
    case UnaryOp::kLogGamma:
      return math_f64::LogGamma;
    case UnaryOp::kDigamma:
      return math_f64::Digamma;
    default:
      return nullptr;
  }
}

FloatValue Sign(FloatValue x) {
  const FloatValue positive = Choose(x > 0.0, 1.0, x);
  return Choose(x < 0.0, -1.0, positive);
}

// Halves away from zero, which WebAssembly has no instruction for: by the number
// just below a half, which carries no other number over to the next.
FloatValue Round(FloatValue x) {
  const double below_half =
      x.is_double() ? 0x1.fffffffffffffp-2 : 0x1.fffffep-2;
  return Trunc(x + CopySign(x.Of(below_half), x));
}

// Those that are an instruction or two.
FloatValue Simple(UnaryOp op, FloatValue x) {
  switch (op) {
    case UnaryOp::kNeg:
      return -x;
    case UnaryOp::kAbs:
      return Abs(x);
    case UnaryOp::kSign:
      return Sign(x);
    case UnaryOp::kFloor:
      return Floor(x);
    case UnaryOp::kCeil:
      return Call(llvm::Intrinsic::ceil, x);
    case UnaryOp::kTrunc:
      return Trunc(x);
    case UnaryOp::kRound:
      return Round(x);
    case UnaryOp::kRoundEven:
      return Call(llvm::Intrinsic::roundeven, x);
    case UnaryOp::kSqrt:
      return Sqrt(x);
    default:
      break;
  }
  MXC_CHECK(false, "unary operation {}", static_cast<int>(op));
  return x;
}

using BinaryFunction = FloatValue (*)(FloatValue, FloatValue);

llvm::Value* InWide(llvm::IRBuilder<>& builder, BinaryFunction function,
                    llvm::Value* x, llvm::Value* y) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(builder);
  builder.clearFastMathFlags();
  const FloatValue a{&builder, x}, b{&builder, y};
  if (a.is_double()) return function(a, b).v;
  return NarrowLike(function(Widen(a), Widen(b)), a).v;
}

}  // namespace

llvm::Value* EmitMath(llvm::IRBuilder<>& builder, UnaryOp op, llvm::Value* x) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(builder);
  builder.clearFastMathFlags();
  const FloatValue value{&builder, x};
  const Function wide = WideFunction(op), narrow = NarrowFunction(op);
  if (wide == nullptr) return Simple(op, value).v;
  if (value.is_double()) return wide(value).v;
  if (narrow != nullptr) return narrow(value).v;
  return NarrowLike(wide(Widen(value)), value).v;
}

llvm::Value* EmitPow(llvm::IRBuilder<>& builder, llvm::Value* x,
                     llvm::Value* y) {
  return InWide(builder, math_f64::Pow, x, y);
}

llvm::Value* EmitMod(llvm::IRBuilder<>& builder, llvm::Value* x,
                     llvm::Value* y) {
  return InWide(builder, math_f64::Mod, x, y);
}

}  // namespace mxc
