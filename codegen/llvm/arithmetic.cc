// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/arithmetic.h"

#include <cmath>
#include <limits>

#include "codegen/llvm/float_value.h"
#include "codegen/llvm/math.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

using llvm::Value;

// Sums and products may be fused into one rounding, nothing else.
class Contracting {
 public:
  explicit Contracting(KernelFunction& kernel) : guard_(kernel.b()) {
    llvm::FastMathFlags flags;
    flags.setAllowContract(true);
    kernel.b().setFastMathFlags(flags);
  }

 private:
  llvm::IRBuilder<>::FastMathFlagGuard guard_;
};

// NaN if either is. The sign of a zero does not matter, which saves most of
// what the intrinsic costs.
Value* EmitExtremum(KernelFunction& kernel, bool max, Value* a, Value* b) {
  auto& builder = kernel.b();
  auto* extremum = llvm::cast<llvm::Instruction>(builder.CreateIntrinsic(
      max ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, {a->getType()},
      {a, b}));
  extremum->setHasNoSignedZeros(true);
  return extremum;
}

Value* EmitPower(KernelFunction& kernel, Value* x, Value* y) {
  auto& builder = kernel.b();
  const auto* constant = llvm::dyn_cast<llvm::Constant>(y);
  if (constant != nullptr && constant->getType()->isVectorTy()) {
    constant = constant->getSplatValue();
  }
  if (const auto* fp = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant)) {
    if (fp->isExactlyValue(1)) return x;
    if (fp->isExactlyValue(2)) return builder.CreateFMul(x, x);
    if (fp->isExactlyValue(3)) {
      return builder.CreateFMul(builder.CreateFMul(x, x), x);
    }
    if (fp->isExactlyValue(-1)) {
      return builder.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1), x);
    }
  }
  return EmitPow(builder, x, y);
}

Value* EmitFloatBinary(KernelFunction& kernel, BinaryOp op, Value* a,
                       Value* b) {
  auto& builder = kernel.b();
  const Contracting contracting(kernel);
  switch (op) {
    case BinaryOp::kAdd:
      return builder.CreateFAdd(a, b);
    case BinaryOp::kSub:
      return builder.CreateFSub(a, b);
    case BinaryOp::kMul:
      return builder.CreateFMul(a, b);
    case BinaryOp::kDiv:
      return builder.CreateFDiv(a, b);
    case BinaryOp::kMod:
      return EmitMod(builder, a, b);
    case BinaryOp::kPow:
      return EmitPower(kernel, a, b);
    case BinaryOp::kMax:
      return EmitExtremum(kernel, true, a, b);
    case BinaryOp::kMin:
      return EmitExtremum(kernel, false, a, b);
    case BinaryOp::kLess:
      return builder.CreateFCmpOLT(a, b);
    case BinaryOp::kLessEqual:
      return builder.CreateFCmpOLE(a, b);
    case BinaryOp::kEqual:
      return builder.CreateFCmpOEQ(a, b);
    case BinaryOp::kNotEqual:
      return builder.CreateFCmpUNE(a, b);
    default:
      break;
  }
  MXC_CHECK(false, "operation {}", static_cast<int>(op));
  return nullptr;
}

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

// LLVM leaves a shift by all bits undefined.
Value* EmitShiftRight(KernelFunction& kernel, Value* a, Value* b) {
  auto& builder = kernel.b();
  const int64_t bits = a->getType()->getScalarSizeInBits();
  Value* inside = builder.CreateICmpULT(b, IntConstant(a, bits));
  Value* by = builder.CreateSelect(inside, b, IntConstant(a, 0));
  return builder.CreateSelect(inside, builder.CreateLShr(a, by),
                              IntConstant(a, 0));
}

Value* EmitMulHigh(KernelFunction& kernel, Value* a, Value* b) {
  auto& builder = kernel.b();
  const unsigned bits = a->getType()->getScalarSizeInBits();
  llvm::Type* wide = a->getType()->getWithNewBitWidth(2 * bits);
  Value* product = builder.CreateMul(builder.CreateZExt(a, wide),
                                     builder.CreateZExt(b, wide));
  return builder.CreateTrunc(builder.CreateLShr(product, bits), a->getType());
}

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
      return builder.CreateAdd(a, b);
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
      return x;
    default:
      break;
  }
  Value* wide = EmitCast(kernel, x, dtype, DType::kF64);
  return EmitCast(kernel, EmitMath(builder, op, wide), DType::kF64, dtype);
}

llvm::Type* TypeLike(KernelFunction& kernel, const Value* x, DType dtype) {
  return x->getType()->getWithNewType(kernel.ValueType(dtype));
}

// IEEE half in an i16, by integer and f32 arithmetic alone, so that no target
// needs a library for it. The multiplication makes subnormals normal.
Value* HalfToFloat(KernelFunction& kernel, Value* half) {
  auto& builder = kernel.b();
  llvm::Type* i32 = half->getType()->getWithNewType(builder.getInt32Ty());
  llvm::Type* f32 = half->getType()->getWithNewType(builder.getFloatTy());
  Value* bits = builder.CreateZExt(half, i32);
  Value* sign = builder.CreateShl(builder.CreateAnd(bits, 0x8000), 16);
  Value* rest = builder.CreateShl(builder.CreateAnd(bits, 0x7fff), 13);
  Value* scaled = builder.CreateFMul(builder.CreateBitCast(rest, f32),
                                     llvm::ConstantFP::get(f32, 0x1p112));
  Value* finite = builder.CreateBitCast(scaled, i32);
  Value* special =
      builder.CreateICmpUGE(rest, llvm::ConstantInt::get(i32, 0x7c00 << 13));
  Value* magnitude =
      builder.CreateSelect(special, builder.CreateOr(rest, 0x7f800000), finite);
  return builder.CreateBitCast(builder.CreateOr(magnitude, sign), f32);
}

// Rounds to nearest even.
Value* FloatToHalf(KernelFunction& kernel, Value* x) {
  auto& builder = kernel.b();
  llvm::Type* f32 = x->getType();
  llvm::Type* i32 = f32->getWithNewType(builder.getInt32Ty());
  const auto number = [&](uint64_t n) {
    return llvm::ConstantInt::get(i32, n);
  };
  Value* bits = builder.CreateBitCast(x, i32);
  Value* magnitude = builder.CreateAnd(bits, 0x7fffffff);
  // Adding ½ aligns a subnormal's digits with the end of the mantissa.
  Value* shifted = builder.CreateFAdd(builder.CreateBitCast(magnitude, f32),
                                      llvm::ConstantFP::get(f32, 0.5));
  Value* subnormal = builder.CreateSub(builder.CreateBitCast(shifted, i32),
                                       number(0x3f000000));
  Value* odd = builder.CreateAnd(builder.CreateLShr(magnitude, 13), 1);
  Value* rounded =
      builder.CreateAdd(builder.CreateAdd(magnitude, number(0xc8000fff)), odd);
  Value* normal = builder.CreateLShr(rounded, 13);
  Value* half = builder.CreateSelect(
      builder.CreateICmpULT(magnitude, number(0x38800000)), subnormal, normal);
  half =
      builder.CreateSelect(builder.CreateICmpUGE(magnitude, number(0x477ff000)),
                           number(0x7c00), half);
  half =
      builder.CreateSelect(builder.CreateICmpUGT(magnitude, number(0x7f800000)),
                           number(0x7e00), half);
  half = builder.CreateOr(
      half, builder.CreateAnd(builder.CreateLShr(bits, 16), 0x8000));
  return builder.CreateTrunc(half, f32->getWithNewType(builder.getInt16Ty()));
}

Value* BrainToFloat(KernelFunction& kernel, Value* brain) {
  auto& builder = kernel.b();
  llvm::Type* i32 = brain->getType()->getWithNewType(builder.getInt32Ty());
  llvm::Type* f32 = brain->getType()->getWithNewType(builder.getFloatTy());
  Value* bits = builder.CreateShl(builder.CreateZExt(brain, i32), 16);
  return builder.CreateBitCast(bits, f32);
}

Value* FloatToBrain(KernelFunction& kernel, Value* x) {
  auto& builder = kernel.b();
  llvm::Type* i32 = x->getType()->getWithNewType(builder.getInt32Ty());
  Value* bits = builder.CreateBitCast(x, i32);
  Value* odd = builder.CreateAnd(builder.CreateLShr(bits, 16), 1);
  Value* rounded = builder.CreateAdd(
      builder.CreateAdd(bits, llvm::ConstantInt::get(i32, 0x7fff)), odd);
  Value* quiet = builder.CreateOr(bits, 0x400000);
  Value* chosen =
      builder.CreateSelect(builder.CreateFCmpUNO(x, x), quiet, rounded);
  return builder.CreateTrunc(
      builder.CreateLShr(chosen, 16),
      x->getType()->getWithNewType(builder.getInt16Ty()));
}

Value* EmitFloatToInt(KernelFunction& kernel, Value* x, DType to) {
  llvm::Type* type = TypeLike(kernel, x, to);
  // Saturating: a value out of range must not be undefined.
  return kernel.b().CreateIntrinsic(
      IsSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
      {type, x->getType()}, {x});
}

}  // namespace

bool IsSigned(DType dtype) {
  return dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kI32 ||
         dtype == DType::kI64;
}

Value* EmitConstant(KernelFunction& kernel, double value, DType dtype) {
  llvm::Type* type = kernel.ValueType(dtype);
  if (IsFloat(dtype)) return llvm::ConstantFP::get(type, value);
  if (dtype == DType::kBool) return kernel.b().getInt1(value != 0);
  const unsigned bits = type->getIntegerBitWidth();
  const bool is_signed = IsSigned(dtype);
  const double high = std::ldexp(1.0, static_cast<int>(bits - is_signed));
  const double low = is_signed ? -high : 0;
  if (value >= high) {
    return kernel.b().getInt(is_signed ? llvm::APInt::getSignedMaxValue(bits)
                                       : llvm::APInt::getMaxValue(bits));
  }
  if (value <= low) {
    return kernel.b().getInt(is_signed ? llvm::APInt::getSignedMinValue(bits)
                                       : llvm::APInt::getMinValue(bits));
  }
  if (std::isnan(value)) return llvm::ConstantInt::get(type, 0);
  const auto integer = static_cast<int64_t>(value);
  return llvm::ConstantInt::get(type, static_cast<uint64_t>(integer));
}

Value* EmitUnary(KernelFunction& kernel, UnaryOp op, DType dtype, Value* x) {
  auto& builder = kernel.b();
  if (op == UnaryOp::kNot) {
    return builder.CreateNot(EmitCast(kernel, x, dtype, DType::kBool));
  }
  if (op == UnaryOp::kIsNan) {
    if (IsFloat(dtype)) return builder.CreateFCmpUNO(x, x);
    return llvm::Constant::getNullValue(TypeLike(kernel, x, DType::kBool));
  }
  if (IsFloat(dtype)) return EmitMath(builder, op, x);
  if (dtype == DType::kBool) return x;
  return EmitIntUnary(kernel, op, dtype, x);
}

Value* EmitBinary(KernelFunction& kernel, BinaryOp op, DType dtype, Value* a,
                  Value* b) {
  if (op == BinaryOp::kAnd || op == BinaryOp::kOr) {
    a = EmitCast(kernel, a, dtype, DType::kBool);
    b = EmitCast(kernel, b, dtype, DType::kBool);
    return op == BinaryOp::kAnd ? kernel.b().CreateAnd(a, b)
                                : kernel.b().CreateOr(a, b);
  }
  if (IsFloat(dtype)) return EmitFloatBinary(kernel, op, a, b);
  return EmitIntBinary(kernel, op, dtype, a, b);
}

Value* EmitCast(KernelFunction& kernel, Value* x, DType from, DType to) {
  if (from == to) return x;
  auto& builder = kernel.b();
  llvm::Type* type = TypeLike(kernel, x, to);
  if (to == DType::kBool) {
    Value* zero = llvm::Constant::getNullValue(x->getType());
    return IsFloat(from) ? builder.CreateFCmpUNE(x, zero)
                         : builder.CreateICmpNE(x, zero);
  }
  if (IsFloat(from) && IsFloat(to)) {
    Value* y = builder.CreateFPCast(x, type);
    const bool rounds = to == DType::kF16 || to == DType::kBF16;
    return rounds ? FromMemory(kernel, ToMemory(kernel, y, to), to) : y;
  }
  if (IsFloat(from)) return EmitFloatToInt(kernel, x, to);
  if (IsFloat(to)) {
    return IsSigned(from) ? builder.CreateSIToFP(x, type)
                          : builder.CreateUIToFP(x, type);
  }
  return builder.CreateIntCast(x, type, IsSigned(from));
}

Value* EmitCombine(KernelFunction& kernel, ReduceOp op, DType dtype, Value* a,
                   Value* b) {
  switch (op) {
    case ReduceOp::kSum:
      return EmitBinary(kernel, BinaryOp::kAdd, dtype, a, b);
    case ReduceOp::kProduct:
      return EmitBinary(kernel, BinaryOp::kMul, dtype, a, b);
    case ReduceOp::kMax:
      return EmitBinary(kernel, BinaryOp::kMax, dtype, a, b);
    case ReduceOp::kMin:
      return EmitBinary(kernel, BinaryOp::kMin, dtype, a, b);
  }
  return nullptr;
}

// Halves against each other until one lane is left.
Value* EmitHorizontal(KernelFunction& kernel, ReduceOp op, DType dtype,
                      Value* vector) {
  auto& builder = kernel.b();
  auto lanes = static_cast<int>(
      llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
  while (lanes > 1) {
    lanes /= 2;
    llvm::SmallVector<int> low, high;
    for (int i = 0; i < lanes; ++i) {
      low.push_back(i);
      high.push_back(i + lanes);
    }
    vector =
        EmitCombine(kernel, op, dtype, builder.CreateShuffleVector(vector, low),
                    builder.CreateShuffleVector(vector, high));
  }
  return builder.CreateExtractElement(vector, uint64_t{0});
}

Value* FromMemory(KernelFunction& kernel, Value* x, DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return HalfToFloat(kernel, x);
    case DType::kBF16:
      return BrainToFloat(kernel, x);
    case DType::kBool:
      return kernel.b().CreateICmpNE(
          x, llvm::Constant::getNullValue(x->getType()));
    default:
      return x;
  }
}

Value* ToMemory(KernelFunction& kernel, Value* x, DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return FloatToHalf(kernel, x);
    case DType::kBF16:
      return FloatToBrain(kernel, x);
    case DType::kBool:
      return kernel.b().CreateZExt(
          x, x->getType()->getWithNewType(kernel.b().getInt8Ty()));
    default:
      return x;
  }
}

Value* Splat(KernelFunction& kernel, Value* x, int lanes) {
  if (lanes == 1 || x->getType()->isVectorTy()) return x;
  return kernel.b().CreateVectorSplat(static_cast<unsigned>(lanes), x);
}

}  // namespace mxc
