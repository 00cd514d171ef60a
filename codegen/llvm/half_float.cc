// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/half_float.h"

namespace mxc {

using llvm::Value;

namespace {

// The bf16 that BrainToFloat made `x` of; null: none.
Value* AsBrain(Value* x) {
  const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(x);
  if (cast == nullptr) return nullptr;
  const auto* bits = llvm::dyn_cast<llvm::BinaryOperator>(cast->getOperand(0));
  if (bits == nullptr || bits->getOpcode() != llvm::Instruction::Shl) {
    return nullptr;
  }
  const auto* brain = llvm::dyn_cast<llvm::ZExtInst>(bits->getOperand(0));
  return brain != nullptr && brain->getSrcTy()->getScalarSizeInBits() == 16
             ? brain->getOperand(0)
             : nullptr;
}

// What was rounded to make `x`, if that is all that was done to it; else `x`.
Value* Unrounded(Value* x) {
  Value* brain = AsBrain(x);
  const auto* bits = llvm::dyn_cast_or_null<llvm::BitCastInst>(brain);
  if (bits == nullptr) return x;
  const auto* rounded = llvm::dyn_cast<llvm::FPTruncInst>(bits->getOperand(0));
  return rounded != nullptr && rounded->getSrcTy() == x->getType()
             ? rounded->getOperand(0)
             : x;
}

}  // namespace

// The multiplication makes subnormals normal.
Value* HalfToFloat(KernelFunction& kernel, Value* half) {
  auto& builder = kernel.b();
  llvm::Type* i32 = half->getType()->getWithNewType(builder.getInt32Ty());
  llvm::Type* f32 = half->getType()->getWithNewType(builder.getFloatTy());
  if (kernel.instructions().convert_halves) {
    llvm::Type* f16 = half->getType()->getWithNewType(builder.getHalfTy());
    return builder.CreateFPExt(builder.CreateBitCast(half, f16), f32);
  }
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

Value* FloatToHalf(KernelFunction& kernel, Value* x) {
  auto& builder = kernel.b();
  llvm::Type* f32 = x->getType();
  llvm::Type* i32 = f32->getWithNewType(builder.getInt32Ty());
  llvm::Type* i16 = f32->getWithNewType(builder.getInt16Ty());
  if (kernel.instructions().convert_halves) {
    llvm::Type* f16 = f32->getWithNewType(builder.getHalfTy());
    return builder.CreateBitCast(builder.CreateFPTrunc(x, f16), i16);
  }
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
  return builder.CreateTrunc(half, i16);
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
  // LLVM would round it again.
  if (Value* brain = AsBrain(x)) return brain;
  if (kernel.instructions().convert_brains) {
    llvm::Type* bf16 = x->getType()->getWithNewType(builder.getBFloatTy());
    return builder.CreateBitCast(
        builder.CreateFPTrunc(x, bf16),
        x->getType()->getWithNewType(builder.getInt16Ty()));
  }
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

Value* FloatsToBrains(KernelFunction& kernel, Value* low, Value* high) {
  auto& builder = kernel.b();
  Value* brains = builder.CreateIntrinsic(
      kernel.VectorOf(builder.getBFloatTy(),
                      2 * kernel.instructions().brains_of_two),
      llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512,
      {Unrounded(high), Unrounded(low)});
  return builder.CreateBitCast(
      brains, brains->getType()->getWithNewType(builder.getInt16Ty()));
}

}  // namespace mxc
