// SPDX-License-Identifier: Apache-2.0
// LLVM values with operators, so that the mathematical functions read like
// formulas. A FloatValue is f32 or f64, an IntValue an integer of the same
// width, a MaskValue i1; all of them one lane or a vector.
#pragma once

#include <initializer_list>
#include <limits>

#include "codegen/llvm/llvm.h"

namespace mxc {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct MaskValue {
  llvm::IRBuilder<>* b;
  llvm::Value* v;
};

struct IntValue {
  llvm::IRBuilder<>* b;
  llvm::Value* v;
  IntValue Of(int64_t c) const {
    return {b, llvm::ConstantInt::getSigned(v->getType(), c)};
  }
};

struct FloatValue {
  llvm::IRBuilder<>* b;
  llvm::Value* v;

  FloatValue Of(double c) const {
    return {b, llvm::ConstantFP::get(v->getType(), c)};
  }
  llvm::Type* type() const { return v->getType(); }
  bool is_double() const { return type()->getScalarType()->isDoubleTy(); }
};

inline FloatValue operator+(FloatValue x, FloatValue y) {
  return {x.b, x.b->CreateFAdd(x.v, y.v)};
}
inline FloatValue operator-(FloatValue x, FloatValue y) {
  return {x.b, x.b->CreateFSub(x.v, y.v)};
}
inline FloatValue operator*(FloatValue x, FloatValue y) {
  return {x.b, x.b->CreateFMul(x.v, y.v)};
}
inline FloatValue operator/(FloatValue x, FloatValue y) {
  return {x.b, x.b->CreateFDiv(x.v, y.v)};
}
inline FloatValue operator-(FloatValue x) {
  return {x.b, x.b->CreateFNeg(x.v)};
}
inline FloatValue operator+(FloatValue x, double y) { return x + x.Of(y); }
inline FloatValue operator-(FloatValue x, double y) { return x - x.Of(y); }
inline FloatValue operator*(FloatValue x, double y) { return x * x.Of(y); }
inline FloatValue operator/(FloatValue x, double y) { return x / x.Of(y); }
inline FloatValue operator+(double x, FloatValue y) { return y.Of(x) + y; }
inline FloatValue operator-(double x, FloatValue y) { return y.Of(x) - y; }
inline FloatValue operator*(double x, FloatValue y) { return y.Of(x) * y; }
inline FloatValue operator/(double x, FloatValue y) { return y.Of(x) / y; }

// Ordered comparisons: false where either is NaN.
inline MaskValue operator<(FloatValue x, FloatValue y) {
  return {x.b, x.b->CreateFCmpOLT(x.v, y.v)};
}
inline MaskValue operator>(FloatValue x, FloatValue y) { return y < x; }
inline MaskValue operator==(FloatValue x, FloatValue y) {
  return {x.b, x.b->CreateFCmpOEQ(x.v, y.v)};
}
inline MaskValue operator<(FloatValue x, double y) { return x < x.Of(y); }
inline MaskValue operator>(FloatValue x, double y) { return x > x.Of(y); }
inline MaskValue operator==(FloatValue x, double y) { return x == x.Of(y); }
inline MaskValue IsNan(FloatValue x) {
  return {x.b, x.b->CreateFCmpUNO(x.v, x.v)};
}
inline MaskValue operator&(MaskValue x, MaskValue y) {
  return {x.b, x.b->CreateAnd(x.v, y.v)};
}
inline MaskValue operator|(MaskValue x, MaskValue y) {
  return {x.b, x.b->CreateOr(x.v, y.v)};
}
inline MaskValue operator!(MaskValue x) { return {x.b, x.b->CreateNot(x.v)}; }

inline FloatValue Choose(MaskValue m, FloatValue x, FloatValue y) {
  return {x.b, x.b->CreateSelect(m.v, x.v, y.v)};
}
inline FloatValue Choose(MaskValue m, double x, FloatValue y) {
  return Choose(m, y.Of(x), y);
}
inline IntValue Choose(MaskValue m, IntValue x, IntValue y) {
  return {x.b, x.b->CreateSelect(m.v, x.v, y.v)};
}

// x·y + z, rounded once where the target has such an instruction.
inline FloatValue MulAdd(FloatValue x, FloatValue y, FloatValue z) {
  return {x.b, x.b->CreateIntrinsic(llvm::Intrinsic::fmuladd, {x.type()},
                                    {x.v, y.v, z.v})};
}
inline FloatValue MulAdd(FloatValue x, double y, FloatValue z) {
  return MulAdd(x, x.Of(y), z);
}
inline FloatValue Call(llvm::Intrinsic::ID intrinsic, FloatValue x) {
  return {x.b, x.b->CreateUnaryIntrinsic(intrinsic, x.v)};
}
inline FloatValue Abs(FloatValue x) { return Call(llvm::Intrinsic::fabs, x); }
inline FloatValue Sqrt(FloatValue x) { return Call(llvm::Intrinsic::sqrt, x); }
inline FloatValue Floor(FloatValue x) {
  return Call(llvm::Intrinsic::floor, x);
}
inline FloatValue Trunc(FloatValue x) {
  return Call(llvm::Intrinsic::trunc, x);
}
inline FloatValue RoundEven(FloatValue x) {
  return Call(llvm::Intrinsic::roundeven, x);
}
inline FloatValue CopySign(FloatValue magnitude, FloatValue sign) {
  return {sign.b, sign.b->CreateBinaryIntrinsic(llvm::Intrinsic::copysign,
                                                magnitude.v, sign.v)};
}
// The smaller, the larger; y where x is NaN.
inline FloatValue AtMost(FloatValue x, double y) {
  return Choose(x < y, x, x.Of(y));
}
inline FloatValue AtLeast(FloatValue x, double y) {
  return Choose(x > y, x, x.Of(y));
}

// The polynomial with the given coefficients, highest power first.
inline FloatValue Polynomial(FloatValue x, std::initializer_list<double> c) {
  FloatValue sum = x.Of(*c.begin());
  for (const double* k = c.begin() + 1; k != c.end(); ++k) {
    sum = MulAdd(sum, x, x.Of(*k));
  }
  return sum;
}

// --- integers of the same width
inline llvm::Type* IntTypeOf(FloatValue x) {
  return x.type()->getWithNewType(
      x.b->getIntNTy(x.type()->getScalarSizeInBits()));
}
inline IntValue Bits(FloatValue x) {
  return {x.b, x.b->CreateBitCast(x.v, IntTypeOf(x))};
}
inline FloatValue FromBits(IntValue i, FloatValue like) {
  return {i.b, i.b->CreateBitCast(i.v, like.type())};
}
// Of a float that is an integer within range.
inline IntValue ToInt(FloatValue x) {
  return {x.b, x.b->CreateFPToSI(x.v, IntTypeOf(x))};
}
inline FloatValue ToFloat(IntValue i, FloatValue like) {
  return {i.b, i.b->CreateSIToFP(i.v, like.type())};
}
inline IntValue operator+(IntValue x, IntValue y) {
  return {x.b, x.b->CreateAdd(x.v, y.v)};
}
inline IntValue operator-(IntValue x, IntValue y) {
  return {x.b, x.b->CreateSub(x.v, y.v)};
}
inline IntValue operator+(IntValue x, int64_t y) { return x + x.Of(y); }
inline IntValue operator-(IntValue x, int64_t y) { return x - x.Of(y); }
inline IntValue operator&(IntValue x, int64_t y) {
  return {x.b, x.b->CreateAnd(x.v, x.Of(y).v)};
}
inline IntValue ShiftLeft(IntValue x, int by) {
  return {x.b, x.b->CreateShl(x.v, x.Of(by).v)};
}
inline IntValue ShiftRight(IntValue x, int by) {
  return {x.b, x.b->CreateAShr(x.v, x.Of(by).v)};
}
inline MaskValue operator<(IntValue x, IntValue y) {
  return {x.b, x.b->CreateICmpSLT(x.v, y.v)};
}
inline MaskValue operator==(IntValue x, int64_t y) {
  return {x.b, x.b->CreateICmpEQ(x.v, x.Of(y).v)};
}

// --- between the float types
inline FloatValue Widen(FloatValue x) {
  llvm::Type* type = x.type()->getWithNewType(x.b->getDoubleTy());
  return {x.b, x.b->CreateFPExt(x.v, type)};
}
inline FloatValue NarrowLike(FloatValue x, FloatValue like) {
  return {x.b, x.b->CreateFPTrunc(x.v, like.type())};
}

}  // namespace mxc
