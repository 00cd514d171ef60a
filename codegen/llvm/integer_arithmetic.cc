// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/integer_arithmetic.h"

#include "codegen/llvm/arithmetic.h"
#include "codegen/llvm/math.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

using llvm::Value;

Value* IntConstant(Value* like, int64_t value) {
  return llvm::ConstantInt::getSigned(like->getType(), value);
}

// Rounded towards minus infinity; nothing that the processor traps on is left:
// x / 0 = x mod 0 = 0, and x / −1 = −x wraps.
Value* EmitIntDivision(KernelFunction& kernel, BinaryOp op, bool is_signed,
                       Value* a, Value* b) {
  auto& builder = kernel.b();
  const bool quotient = op == BinaryOp::kDiv;
  Value* zero = IntConstant(a, 0);
  Value* by_zero = builder.CreateICmpEQ(b, zero);
  Value* by = builder.CreateSelect(by_zero, IntConstant(a, 1), b);
  Value* result = nullptr;
  if (!is_signed) {
    result = quotient ? builder.CreateUDiv(a, by) : builder.CreateURem(a, by);
  } else {
    Value* negates = builder.CreateICmpEQ(by, IntConstant(a, -1));
    by = builder.CreateSelect(negates, IntConstant(a, 1), by);
    Value* q = builder.CreateSDiv(a, by);
    Value* r = builder.CreateSub(a, builder.CreateMul(q, by));
    Value* adjust = builder.CreateAnd(
        builder.CreateICmpNE(r, zero),
        builder.CreateICmpSLT(builder.CreateXor(r, by), zero));
    if (quotient) {
      q = builder.CreateSelect(negates, builder.CreateNeg(q), q);
      result = builder.CreateSub(q, builder.CreateZExt(adjust, a->getType()));
    } else {
      result = builder.CreateSelect(adjust, builder.CreateAdd(r, by), r);
    }
  }
  return builder.CreateSelect(by_zero, zero, result);
}

Value* EmitIntPower(KernelFunction& kernel, DType dtype, Value* a, Value* b) {
  Value* power = EmitPow(kernel.b(), EmitCast(kernel, a, dtype, DType::kF64),
                         EmitCast(kernel, b, dtype, DType::kF64));
  power = kernel.b().CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, power);
  return EmitCast(kernel, power, DType::kF64, dtype);
}

// LLVM leaves a shift by all bits undefined. Lanes of 8 and 16 bits are shifted as words:
// for WebAssembly LLVM 19 lets copies of their signs enter instead of zeros.
Value* EmitShiftRight(KernelFunction& kernel, Value* a, Value* b) {
  auto& builder = kernel.b();
  llvm::Type* type = a->getType();
  const int64_t bits = type->getScalarSizeInBits();
  Value* inside = builder.CreateICmpULT(b, IntConstant(a, bits));
  if (bits < 32) {
    llvm::Type* word = type->getWithNewBitWidth(32);
    a = builder.CreateZExt(a, word);
    b = builder.CreateZExt(b, word);
  }
  Value* by = builder.CreateSelect(inside, b, IntConstant(a, 0));
  Value* shifted = builder.CreateSelect(inside, builder.CreateLShr(a, by),
                                        IntConstant(a, 0));
  return builder.CreateTrunc(shifted, type);
}

Value* EmitMulHigh(KernelFunction& kernel, Value* a, Value* b) {
  auto& builder = kernel.b();
  const unsigned bits = a->getType()->getScalarSizeInBits();
  llvm::Type* wide = a->getType()->getWithNewBitWidth(2 * bits);
  Value* product = builder.CreateMul(builder.CreateZExt(a, wide),
                                     builder.CreateZExt(b, wide));
  return builder.CreateTrunc(builder.CreateLShr(product, bits), a->getType());
}

}  // namespace

Value* EmitIntBinary(KernelFunction& kernel, BinaryOp op, DType dtype, Value* a,
                     Value* b) {
  auto& builder = kernel.b();
  const bool is_signed = IsSigned(dtype);
  const auto compare = [&](llvm::CmpInst::Predicate with_sign,
                           llvm::CmpInst::Predicate without) {
    return builder.CreateICmp(is_signed ? with_sign : without, a, b);
  };
  switch (op) {
    case BinaryOp::kAdd:
      return dtype == DType::kBool ? builder.CreateOr(a, b)
                                   : builder.CreateAdd(a, b);
    case BinaryOp::kSub:
      return builder.CreateSub(a, b);
    case BinaryOp::kMul:
      return builder.CreateMul(a, b);
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
      return EmitIntDivision(kernel, op, is_signed, a, b);
    case BinaryOp::kPow:
      return EmitIntPower(kernel, dtype, a, b);
    case BinaryOp::kMax:
      return builder.CreateSelect(
          compare(llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_UGT), a, b);
    case BinaryOp::kMin:
      return builder.CreateSelect(
          compare(llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_ULT), a, b);
    case BinaryOp::kBitAnd:
      return builder.CreateAnd(a, b);
    case BinaryOp::kBitXor:
      return builder.CreateXor(a, b);
    case BinaryOp::kShiftRight:
      return EmitShiftRight(kernel, a, b);
    case BinaryOp::kMulHigh:
      return EmitMulHigh(kernel, a, b);
    case BinaryOp::kLess:
      return compare(llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_ULT);
    case BinaryOp::kLessEqual:
      return compare(llvm::CmpInst::ICMP_SLE, llvm::CmpInst::ICMP_ULE);
    case BinaryOp::kEqual:
      return builder.CreateICmpEQ(a, b);
    case BinaryOp::kNotEqual:
      return builder.CreateICmpNE(a, b);
    default:
      break;
  }
  MXC_CHECK(false, "operation {}", static_cast<int>(op));
  return nullptr;
}

Value* EmitIntUnary(KernelFunction& kernel, UnaryOp op, DType dtype, Value* x) {
  auto& builder = kernel.b();
  Value* zero = IntConstant(x, 0);
  switch (op) {
    case UnaryOp::kNeg:
      return builder.CreateNeg(x);
    case UnaryOp::kAbs:
      if (!IsSigned(dtype)) return x;
      return builder.CreateSelect(builder.CreateICmpSLT(x, zero),
                                  builder.CreateNeg(x), x);
    case UnaryOp::kSign: {
      Value* positive = builder.CreateZExt(
          builder.CreateICmp(IsSigned(dtype) ? llvm::CmpInst::ICMP_SGT
                                             : llvm::CmpInst::ICMP_UGT,
                             x, zero),
          x->getType());
      if (!IsSigned(dtype)) return positive;
      return builder.CreateOr(
          positive,
          builder.CreateSExt(builder.CreateICmpSLT(x, zero), x->getType()));
    }
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kTrunc:
    case UnaryOp::kRound:
    case UnaryOp::kRoundEven:
      return x;
    default:
      break;
  }
  Value* wide = EmitCast(kernel, x, dtype, DType::kF64);
  return EmitCast(kernel, EmitMath(builder, op, wide), DType::kF64, dtype);
}

}  // namespace mxc
