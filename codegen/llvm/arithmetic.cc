// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "codegen/llvm/float_value.h"
#include "codegen/llvm/half_float.h"
#include "codegen/llvm/integer_arithmetic.h"
#include "codegen/llvm/math.h"
#include "ir/program/integers.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

using llvm::Value;

// The sum and the product, if both say so, may be fused into one rounding.
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

// What is NaN of `b` is added to what is `a` where either is: all bits set are NaN.
Value* EmitPseudoExtremum(KernelFunction& kernel, bool max, Value* a,
                          Value* b) {
  auto& builder = kernel.b();
  if (llvm::isa<llvm::Constant>(a)) std::swap(a, b);
  Value* is_less =
      max ? builder.CreateFCmpOLT(a, b) : builder.CreateFCmpOLT(b, a);
  Value* extremum = builder.CreateSelect(is_less, b, a);
  llvm::Type* bits = a->getType()->getWithNewType(
      builder.getIntNTy(a->getType()->getScalarSizeInBits()));
  Value* nan = builder.CreateSExt(builder.CreateFCmpUNO(b, b), bits);
  return builder.CreateBitCast(
      builder.CreateOr(builder.CreateBitCast(extremum, bits), nan),
      a->getType());
}

// NaN if either is. The sign of a zero does not matter, which saves most of
// what the intrinsic costs.
Value* EmitExtremum(KernelFunction& kernel, bool max, Value* a, Value* b) {
  if (kernel.instructions().pseudo_extrema && a->getType()->isVectorTy()) {
    return EmitPseudoExtremum(kernel, max, a, b);
  }
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
  switch (op) {
    case BinaryOp::kAdd:
      return builder.CreateFAdd(a, b);
    case BinaryOp::kSub:
      return builder.CreateFSub(a, b);
    case BinaryOp::kMul: {
      const Contracting contracting(kernel);
      return builder.CreateFMul(a, b);
    }
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

llvm::Type* TypeLike(KernelFunction& kernel, const Value* x, DType dtype) {
  return x->getType()->getWithNewType(kernel.ValueType(dtype));
}

// From which integers of that type are cut.
DType CutFrom(DType to) {
  const bool wide = SizeOf(to) == 8 || to == DType::kU32;
  return wide ? DType::kI64 : DType::kI32;
}

// What does not fit is the least integer of 32 or 64 bits, from which narrower
// ones are cut (Truncated, ir/program/integers.h).
Value* EmitFloatToInt(KernelFunction& kernel, Value* x, DType to) {
  auto& builder = kernel.b();
  llvm::Type* type = TypeLike(kernel, x, to);
  if (to == DType::kU64) {
    return builder.CreateIntrinsic(llvm::Intrinsic::fptoui_sat,
                                   {type, x->getType()}, {x});
  }
  llvm::Type* cut = TypeLike(kernel, x, CutFrom(to));
  const double limit = std::ldexp(1.0, cut->getScalarSizeInBits() - 1);
  const auto bound = [&](double value) {
    return llvm::ConstantFP::get(x->getType(), value);
  };
  // −2^31 − 1 is no f32; what is cut to −2^31 or −2^63 yields that anyway.
  Value* fits = builder.CreateAnd(builder.CreateFCmpOGT(x, bound(-limit)),
                                  builder.CreateFCmpOLT(x, bound(limit)));
  Value* least = llvm::ConstantInt::get(
      cut, llvm::APInt::getSignedMinValue(cut->getScalarSizeInBits()));
  Value* integer =
      builder.CreateSelect(fits, builder.CreateFPToSI(x, cut), least);
  return builder.CreateTrunc(integer, type);
}

// The lower or the upper 32 bits of a float.
Value* EmitBits(KernelFunction& kernel, Value* x, bool upper) {
  auto& builder = kernel.b();
  const bool wide = x->getType()->getScalarType()->isDoubleTy();
  Value* bits = builder.CreateBitCast(
      x, TypeLike(kernel, x, wide ? DType::kU64 : DType::kU32));
  if (upper) bits = builder.CreateLShr(bits, 32);
  return builder.CreateTrunc(bits, TypeLike(kernel, x, DType::kU32));
}

}  // namespace

bool IsSigned(DType dtype) {
  return dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kI32 ||
         dtype == DType::kI64;
}

Value* EmitConstant(KernelFunction& kernel, Element value, DType dtype) {
  llvm::Type* type = kernel.ValueType(dtype);
  if (IsFloat(dtype)) {
    return llvm::ConstantFP::get(type, static_cast<double>(value));
  }
  if (dtype == DType::kBool) return kernel.b().getInt1(value != 0);
  value = std::clamp(value, LeastInteger(dtype), LargestInteger(dtype));
  return llvm::ConstantInt::get(
      type,
      value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                : static_cast<uint64_t>(value),
      IsSigned(dtype));
}

Value* EmitUnary(KernelFunction& kernel, UnaryOp op, DType dtype, Value* x) {
  auto& builder = kernel.b();
  if (op == UnaryOp::kBits || op == UnaryOp::kHighBits) {
    return EmitBits(kernel, x, op == UnaryOp::kHighBits);
  }
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

Value* EmitCutInteger(KernelFunction& kernel, Value* x, DType to) {
  auto& builder = kernel.b();
  return builder.CreateTrunc(
      builder.CreateFPToSI(x, TypeLike(kernel, x, CutFrom(to))),
      TypeLike(kernel, x, to));
}

Value* EmitRoundedInteger(KernelFunction& kernel, Value* x, DType to) {
  auto& builder = kernel.b();
  constexpr int kLanes = 16;
  const bool in_one =
      kernel.instructions().rounds_to_integers && CutFrom(to) == DType::kI32 &&
      x->getType() == kernel.VectorOf(builder.getFloatTy(), kLanes);
  if (!in_one) {
    return EmitCutInteger(kernel, EmitMath(builder, UnaryOp::kRoundEven, x),
                          to);
  }
  // To the nearest, whatever the thread's mode is, and without exceptions.
  constexpr uint32_t kNearest = 0 | 8;
  Value* integers = builder.CreateIntrinsic(
      llvm::Intrinsic::x86_avx512_mask_cvtps2dq_512, {},
      {x,
       llvm::Constant::getNullValue(
           kernel.VectorOf(builder.getInt32Ty(), kLanes)),
       builder.getInt16(0xffff), builder.getInt32(kNearest)});
  return builder.CreateTrunc(integers, TypeLike(kernel, x, to));
}

Value* EmitCombine(KernelFunction& kernel, ReduceOp op, DType dtype, Value* a,
                   Value* b) {
  switch (op) {
    case ReduceOp::kSum: {
      if (!IsFloat(dtype)) {
        return EmitBinary(kernel, BinaryOp::kAdd, dtype, a, b);
      }
      const Contracting contracting(kernel);
      return kernel.b().CreateFAdd(a, b);
    }
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

Value* LoadElements(KernelFunction& kernel, Value* address, DType dtype,
                    int lanes) {
  llvm::Type* type = kernel.VectorOf(kernel.MemoryType(dtype), lanes);
  const llvm::Align align(static_cast<uint64_t>(SizeOf(dtype)));
  return FromMemory(kernel, kernel.b().CreateAlignedLoad(type, address, align),
                    dtype);
}

void StoreElements(KernelFunction& kernel, Value* value, Value* address,
                   DType dtype) {
  const llvm::Align align(static_cast<uint64_t>(SizeOf(dtype)));
  kernel.b().CreateAlignedStore(ToMemory(kernel, value, dtype), address, align);
}

Value* Splat(KernelFunction& kernel, Value* x, int lanes) {
  if (lanes == 1 || x->getType()->isVectorTy()) return x;
  return kernel.b().CreateVectorSplat(static_cast<unsigned>(lanes), x);
}

}  // namespace mxc
