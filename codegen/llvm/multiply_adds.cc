// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/multiply_adds.h"

#include <optional>
#include <vector>

#include "codegen/llvm/transforms.h"

namespace mxc {
namespace {

using llvm::Value;

struct MultiplyAdd {
  Value *a, *b, *sum;
};

bool Contracts(const Value* value, unsigned opcode) {
  const auto* instruction = llvm::dyn_cast<llvm::BinaryOperator>(value);
  return instruction != nullptr && instruction->getOpcode() == opcode &&
         instruction->hasAllowContract();
}

std::optional<MultiplyAdd> MultiplyAddOf(llvm::Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
    if (call->getIntrinsicID() != llvm::Intrinsic::fmuladd) return std::nullopt;
    return MultiplyAdd{call->getArgOperand(0), call->getArgOperand(1),
                       call->getArgOperand(2)};
  }
  if (!Contracts(&instruction, llvm::Instruction::FAdd)) return std::nullopt;
  for (const unsigned k : {0u, 1u}) {
    Value* product = instruction.getOperand(k);
    if (!product->hasOneUse() || !Contracts(product, llvm::Instruction::FMul)) {
      continue;
    }
    auto* multiply = llvm::cast<llvm::BinaryOperator>(product);
    return MultiplyAdd{multiply->getOperand(0), multiply->getOperand(1),
                       instruction.getOperand(1 - k)};
  }
  return std::nullopt;
}

// Of vectors of several registers, each register by itself.
Value* EmitRelaxed(llvm::IRBuilder<>& builder, const MultiplyAdd& x,
                   llvm::FixedVectorType& type) {
  const unsigned lanes = 128 / type.getScalarSizeInBits();
  const unsigned parts = type.getNumElements() / lanes;
  auto* part_type = llvm::FixedVectorType::get(type.getElementType(), lanes);
  llvm::SmallVector<int> whole;
  for (unsigned i = 0; i < type.getNumElements(); ++i) whole.push_back(int(i));
  llvm::SmallVector<Value*> results;
  for (unsigned p = 0; p < parts; ++p) {
    const auto mask = llvm::ArrayRef(whole).slice(p * lanes, lanes);
    const auto part = [&](Value* value) {
      return parts == 1 ? value : builder.CreateShuffleVector(value, mask);
    };
    results.push_back(
        builder.CreateIntrinsic(llvm::Intrinsic::wasm_relaxed_madd, {part_type},
                                {part(x.a), part(x.b), part(x.sum)}));
  }
  return parts == 1 ? results[0] : llvm::concatenateVectors(builder, results);
}

bool FillsRegisters(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector != nullptr && vector->getElementType()->isFloatingPointTy() &&
         vector->getPrimitiveSizeInBits().getFixedValue() % 128 == 0;
}

Value* EmitApart(llvm::IRBuilder<>& builder, const MultiplyAdd& x) {
  return builder.CreateFAdd(builder.CreateFMul(x.a, x.b), x.sum);
}

// May leave products that nothing reads.
void Replace(llvm::Instruction& instruction, Value* value) {
  instruction.replaceAllUsesWith(value);
  instruction.eraseFromParent();
}

// A vector of fixed length, which fills a register, as one of SVE's.
class ScalableValues {
 public:
  Value* Of(llvm::IRBuilder<>& builder, Value* fixed) {
    if (Value* splat = SplatOfLoad(fixed)) return splat;
    llvm::ScalableVectorType* type =
        TypeOf(*llvm::cast<llvm::FixedVectorType>(fixed->getType()));
    return builder.CreateInsertVector(type, llvm::PoisonValue::get(type), fixed,
                                      builder.getInt64(0));
  }

  static llvm::ScalableVectorType* TypeOf(const llvm::FixedVectorType& type) {
    return llvm::ScalableVectorType::get(type.getElementType(),
                                         128 / type.getScalarSizeInBits());
  }

 private:
  // An element of memory in all lanes: LLVM knows the instruction for integers.
  Value* SplatOfLoad(Value* fixed) {
    auto* splat = llvm::dyn_cast<llvm::ShuffleVectorInst>(fixed);
    auto* load = splat == nullptr ? nullptr
                                  : llvm::dyn_cast_or_null<llvm::LoadInst>(
                                        llvm::getSplatValue(splat));
    if (load == nullptr || !load->isSimple()) return nullptr;
    const auto [found, made] = splats_.try_emplace(splat, nullptr);
    if (!made) return found->second;
    llvm::ScalableVectorType* type =
        TypeOf(*llvm::cast<llvm::FixedVectorType>(fixed->getType()));
    llvm::IRBuilder<> at_load(load), at_splat(splat);
    llvm::LoadInst* bits = at_load.CreateAlignedLoad(
        at_load.getIntNTy(type->getScalarSizeInBits()),
        load->getPointerOperand(), load->getAlign());
    bits->copyMetadata(*load);
    found->second = at_splat.CreateBitCast(
        at_splat.CreateVectorSplat(type->getElementCount(), bits), type);
    return found->second;
  }

  llvm::DenseMap<Value*, Value*> splats_;
};

bool IsMultiplyAdd(const llvm::Instruction& instruction, int register_bytes) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  const auto* type =
      llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::fma &&
         type != nullptr &&
         type->getPrimitiveSizeInBits().getFixedValue() ==
             8 * static_cast<uint64_t>(register_bytes);
}

}  // namespace

void WriteOutMultiplyAdds(llvm::Module& module, bool fuses) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!fuses && !llvm::isa<llvm::IntrinsicInst>(instruction)) continue;
      const auto found = MultiplyAddOf(instruction);
      if (!found) continue;
      llvm::IRBuilder<> builder(&instruction);
      Replace(instruction,
              fuses ? builder.CreateIntrinsic(llvm::Intrinsic::fma,
                                              {instruction.getType()},
                                              {found->a, found->b, found->sum})
                    : EmitApart(builder, *found));
    }
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (llvm::isa<llvm::FPMathOperator>(&instruction)) {
        instruction.setHasAllowContract(false);
      }
    }
  }
}

void UseRelaxedMultiplyAdds(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!FillsRegisters(instruction.getType())) continue;
      const auto found = MultiplyAddOf(instruction);
      if (!found) continue;
      llvm::IRBuilder<> builder(&instruction);
      Replace(instruction, EmitRelaxed(builder, *found,
                                       *llvm::cast<llvm::FixedVectorType>(
                                           instruction.getType())));
    }
  }
}

void UseScalableMultiplyAdds(llvm::Module& module, int register_bytes) {
  for (llvm::Function& function : module) {
    ScalableValues scalable;
    std::vector<llvm::IntrinsicInst*> replaced;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (IsMultiplyAdd(instruction, register_bytes)) {
        replaced.push_back(llvm::cast<llvm::IntrinsicInst>(&instruction));
      }
    }
    for (llvm::IntrinsicInst* fma : replaced) {
      llvm::IRBuilder<> builder(fma);
      auto* fixed = llvm::cast<llvm::FixedVectorType>(fma->getType());
      llvm::ScalableVectorType* type = ScalableValues::TypeOf(*fixed);
      Value* all =
          builder.CreateVectorSplat(type->getElementCount(), builder.getTrue());
      const auto operand = [&](unsigned i) {
        return scalable.Of(builder, fma->getArgOperand(i));
      };
      Value* sum = operand(2);
      Value* a = operand(0);
      Value* b = operand(1);
      Value* result = builder.CreateIntrinsic(llvm::Intrinsic::aarch64_sve_fmla,
                                              {type}, {all, sum, a, b});
      fma->replaceAllUsesWith(
          builder.CreateExtractVector(fixed, result, builder.getInt64(0)));
    }
    llvm::SmallVector<llvm::WeakTrackingVH> dead(replaced.begin(),
                                                 replaced.end());
    llvm::RecursivelyDeleteTriviallyDeadInstructions(dead);
  }
}

}  // namespace mxc
