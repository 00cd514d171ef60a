// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/kernel_function.h"

#include <algorithm>
#include <string_view>

#include "ir/support/check.h"

namespace mxc {

namespace {

// `void name(ptr operands, i64 begin, i64 end, ptr scratch)`.
llvm::Function& DeclareKernel(llvm::Module& module, const std::string& name,
                              const Target& target) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* ptr = llvm::PointerType::getUnqual(context);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context);
  llvm::Function* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                              {ptr, i64, i64, ptr}, false),
      llvm::Function::ExternalLinkage, name, module);
  // Explicit vectors are legal at the target's full width.
  const std::string bits = std::to_string(target.register_bytes * 8);
  function->addFnAttr("prefer-vector-width", bits);
  if (!target.cpu.empty()) function->addFnAttr("tune-cpu", target.cpu);
  function->addFnAttr("min-legal-vector-width", bits);
  if (target.isa == "sve") {
    // Vectors of a fixed size are SVE's only where its size is known.
    const auto parts = static_cast<unsigned>(target.register_bytes / 16);
    function->addFnAttr(
        llvm::Attribute::getWithVScaleRangeArgs(context, parts, parts));
  }
  function->addFnAttr(llvm::Attribute::NoUnwind);
  for (const int pointer : {0, 3}) {
    function->addParamAttr(pointer, llvm::Attribute::NoAlias);
  }
  function->addParamAttr(0, llvm::Attribute::ReadOnly);
  return *function;
}

// i + step, of a loop that begins at `from`, which may be below zero: a window
// that reaches beyond its operand.
llvm::Value* Next(llvm::IRBuilder<>& builder, llvm::Value* i, llvm::Value* from,
                  int64_t step) {
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(from);
  const bool no_unsigned_wrap = first != nullptr && !first->isNegative();
  return builder.CreateAdd(i, builder.getInt64(static_cast<uint64_t>(step)), "",
                           no_unsigned_wrap, /*HasNSW=*/true);
}

}  // namespace

// The processors' instructions for bf16 take subnormal numbers for zero, as their
// units for products do: only code that has those units uses them.
Instructions HostInstructions(const Target& target) {
  const auto has = [&](std::string_view feature) {
    return target.features.find(feature) != std::string::npos;
  };
  const bool multiplies_brains = std::ranges::any_of(
      target.machine.products,
      [](const ProductUnit& unit) { return unit.data == DType::kBF16; });
  const bool converts = multiplies_brains && has("+avx512bf16");
  return {.convert_halves = has("+f16c"),
          .convert_brains = converts,
          .brains_of_two = converts ? 16 : 0,
          .pseudo_extrema = target.isa == "simd128",
          .rounds_to_integers = target.isa == "avx512"};
}

KernelFunction::KernelFunction(llvm::Function& function, const Target& target,
                               const Instructions& instructions,
                               const llvm::TargetMachine& machine)
    : module_(*function.getParent()),
      target_(target),
      instructions_(instructions),
      tti_(machine.getTargetTransformInfo(function)),
      function_(&function),
      builder_(function.getContext()) {
  builder_.SetInsertPoint(
      llvm::BasicBlock::Create(function.getContext(), "entry", function_));
}

KernelFunction::KernelFunction(llvm::Module& module, const std::string& name,
                               int operands, const Target& target,
                               llvm::TargetMachine& machine)
    : KernelFunction(DeclareKernel(module, name, target), target,
                     HostInstructions(target), machine) {
  llvm::Type* ptr = builder_.getPtrTy();
  begin_ = function_->getArg(1);
  end_ = function_->getArg(2);
  scratch_ = function_->getArg(3);
  function_->getArg(0)->setName("operands");
  begin_->setName("begin");
  end_->setName("end");
  scratch_->setName("scratch");
  for (int i = 0; i < operands; ++i) {
    auto* load = builder_.CreateLoad(
        ptr, builder_.CreateConstInBoundsGEP1_64(ptr, function_->getArg(0), i),
        "operand" + std::to_string(i));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(module.getContext(), {}));
    operands_.push_back(load);
  }
}

void KernelFunction::Finish() { builder_.CreateRetVoid(); }

llvm::Type* KernelFunction::ValueType(DType dtype) {
  switch (dtype) {
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
      return builder_.getFloatTy();
    case DType::kF64:
      return builder_.getDoubleTy();
    case DType::kBool:
      return builder_.getInt1Ty();
    default:
      return MemoryType(dtype);
  }
}

llvm::Type* KernelFunction::MemoryType(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return builder_.getFloatTy();
    case DType::kF64:
      return builder_.getDoubleTy();
    default:
      break;
  }
  MXC_CHECK(dtype != DType::kUnknown);
  return builder_.getIntNTy(static_cast<unsigned>(8 * SizeOf(dtype)));
}

llvm::Type* KernelFunction::VectorOf(llvm::Type* element, int lanes) {
  if (lanes == 1) return element;
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

llvm::Value* KernelFunction::ElementAddress(llvm::Value* base,
                                            llvm::Value* offset,
                                            int64_t element_bytes) {
  llvm::Type* element =
      builder_.getIntNTy(static_cast<unsigned>(8 * element_bytes));
  return builder_.CreateInBoundsGEP(element, base, offset);
}

void KernelFunction::Loop(llvm::Value* from, llvm::Value* to, int64_t step,
                          const std::function<void(llvm::Value*)>& body) {
  Loop(from, to, step, Carried{},
       [&](llvm::Value* i, const Carried&) -> Carried {
         body(i);
         return {};
       });
}

// A rotated loop: guard, body with the test at its end. The guard is left out
// where both bounds are constants and there is a first round.
KernelFunction::Carried KernelFunction::Loop(
    llvm::Value* from, llvm::Value* to, int64_t step, Carried initial,
    const std::function<Carried(llvm::Value*, const Carried&)>& body) {
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(from);
  const auto* limit = llvm::dyn_cast<llvm::ConstantInt>(to);
  const bool known = first && limit;
  if (known && first->getSExtValue() >= limit->getSExtValue()) return initial;
  if (known && first->getSExtValue() + step >= limit->getSExtValue()) {
    return body(from, initial);
  }
  llvm::LLVMContext& context = module_.getContext();
  auto* before = builder_.GetInsertBlock();
  auto* header = llvm::BasicBlock::Create(context, "loop", function_);
  auto* after = llvm::BasicBlock::Create(context, "after", function_);
  if (known) {
    builder_.CreateBr(header);
  } else {
    builder_.CreateCondBr(builder_.CreateICmpSLT(from, to), header, after);
  }
  builder_.SetInsertPoint(header);
  llvm::PHINode* i = builder_.CreatePHI(builder_.getInt64Ty(), 2, "i");
  i->addIncoming(from, before);
  std::vector<llvm::PHINode*> phis;
  for (llvm::Value* value : initial) {
    phis.push_back(builder_.CreatePHI(value->getType(), 2, "carried"));
    phis.back()->addIncoming(value, before);
  }
  const Carried results = body(i, Carried(phis.begin(), phis.end()));
  MXC_CHECK(results.size() == initial.size());
  llvm::Value* next = Next(builder_, i, from, step);
  auto* last = builder_.GetInsertBlock();
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, to), header, after);
  i->addIncoming(next, last);
  builder_.SetInsertPoint(after);
  Carried out;
  for (size_t k = 0; k < phis.size(); ++k) {
    phis[k]->addIncoming(results[k], last);
    if (known) {
      out.push_back(results[k]);
      continue;
    }
    llvm::PHINode* phi = builder_.CreatePHI(phis[k]->getType(), 2);
    phi->addIncoming(initial[k], before);
    phi->addIncoming(results[k], last);
    out.push_back(phi);
  }
  return out;
}

void KernelFunction::Loop(
    llvm::Value* from, llvm::Value* to,
    const std::function<void(llvm::Value*, const Leave&)>& body) {
  llvm::LLVMContext& context = module_.getContext();
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(context, name, function_);
  };
  auto* before = builder_.GetInsertBlock();
  auto *header = block("loop"), *after = block("after");
  builder_.CreateCondBr(builder_.CreateICmpSLT(from, to), header, after);
  builder_.SetInsertPoint(header);
  llvm::PHINode* i = builder_.CreatePHI(builder_.getInt64Ty(), 2, "i");
  i->addIncoming(from, before);
  body(i, [&] {
    builder_.CreateBr(after);
    builder_.SetInsertPoint(block("unreached"));
  });
  llvm::Value* next = Next(builder_, i, from, 1);
  i->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, to), header, after);
  builder_.SetInsertPoint(after);
}

void KernelFunction::If(llvm::Value* condition,
                        const std::function<void()>& then,
                        const std::function<void()>& otherwise) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (known->isOne()) {
      then();
    } else if (otherwise) {
      otherwise();
    }
    return;
  }
  llvm::LLVMContext& context = module_.getContext();
  auto* yes = llvm::BasicBlock::Create(context, "then", function_);
  auto* after = llvm::BasicBlock::Create(context, "endif", function_);
  auto* no = otherwise
                 ? llvm::BasicBlock::Create(context, "else", function_, after)
                 : after;
  builder_.CreateCondBr(condition, yes, no);
  builder_.SetInsertPoint(yes);
  then();
  builder_.CreateBr(after);
  if (otherwise) {
    builder_.SetInsertPoint(no);
    otherwise();
    builder_.CreateBr(after);
  }
  builder_.SetInsertPoint(after);
}

llvm::Value* KernelFunction::Choose(
    llvm::Value* condition, const std::function<llvm::Value*()>& then,
    const std::function<llvm::Value*()>& otherwise) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    return known->isOne() ? then() : otherwise();
  }
  llvm::Value *yes = nullptr, *no = nullptr;
  llvm::BasicBlock *yes_block = nullptr, *no_block = nullptr;
  If(
      condition,
      [&] {
        yes = then();
        yes_block = builder_.GetInsertBlock();
      },
      [&] {
        no = otherwise();
        no_block = builder_.GetInsertBlock();
      });
  llvm::PHINode* phi = builder_.CreatePHI(yes->getType(), 2);
  phi->addIncoming(yes, yes_block);
  phi->addIncoming(no, no_block);
  return phi;
}

bool KernelFunction::HasMaskedAccess(llvm::Type* element, int lanes) const {
  auto* type =
      llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  return tti_.isLegalMaskedLoad(type, llvm::Align(1)) &&
         tti_.isLegalMaskedStore(type, llvm::Align(1));
}

bool KernelFunction::HasGather(llvm::Type* element, int lanes) const {
  auto* type =
      llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  return tti_.isLegalMaskedGather(type, llvm::Align(4)) &&
         !tti_.forceScalarizeMaskedGather(type, llvm::Align(4));
}

}  // namespace mxc
