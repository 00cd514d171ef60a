// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/emulate.h"

#include <cstddef>
#include <vector>

#include "codegen/cuda/device_function.h"
#include "codegen/cuda/emulated_thread.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

using llvm::Value;

// Of a primitive's arguments, and of its results.
constexpr unsigned kMostWords = 80;

class KernelEmulation {
 public:
  KernelEmulation(llvm::Module& module, llvm::Function& kernel)
      : module_(module), kernel_(kernel), b_(module.getContext()) {}

  void Run() {
    const std::string name = kernel_.getName().str();
    kernel_.setName(name + ".body");
    arguments_ = static_cast<uint32_t>(kernel_.arg_size());
    MakeThreadFunction(name + ".thread");
    ReplaceShared();
    ReplacePrimitives();
    TellAccesses();
    Export(name);
  }

 private:
  // void run(thread, arguments), with the kernel's body inside.
  void MakeThreadFunction(const std::string& name) {
    run_ = llvm::Function::Create(
        llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getPtrTy()},
                                false),
        llvm::Function::InternalLinkage, name, module_);
    run_->addFnAttr(llvm::Attribute::NoUnwind);
    b_.SetInsertPoint(
        llvm::BasicBlock::Create(module_.getContext(), "entry", run_));
    std::vector<Value*> values;
    for (llvm::Argument& argument : kernel_.args()) {
      Value* at = b_.CreateLoad(
          b_.getPtrTy(), b_.CreateConstInBoundsGEP1_64(
                             b_.getPtrTy(), run_->getArg(1), values.size()));
      values.push_back(b_.CreateLoad(argument.getType(), at));
    }
    auto* call = b_.CreateCall(&kernel_, values);
    b_.CreateRetVoid();
    kernel_.setCallingConv(llvm::CallingConv::C);
    llvm::InlineFunctionInfo info;
    MXC_CHECK(llvm::InlineFunction(*call, info).isSuccess());
    kernel_.eraseFromParent();
  }

  Value* Field(size_t offset, llvm::Type* type) {
    auto* load = b_.CreateLoad(
        type,
        b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), run_->getArg(0), offset));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(module_.getContext(), {}));
    return load;
  }

  // The block's memory is where the thread says.
  void ReplaceShared() {
    std::vector<llvm::GlobalVariable*> found;
    for (llvm::GlobalVariable& global : module_.globals()) {
      if (global.getAddressSpace() == kSharedMemory) found.push_back(&global);
    }
    for (llvm::GlobalVariable* global : found) {
      llvm::convertUsersOfConstantsToInstructions({global});
      b_.SetInsertPoint(&*run_->getEntryBlock().getFirstInsertionPt());
      Value* memory =
          Field(offsetof(mxc_emulated_thread, shared), b_.getPtrTy());
      global->replaceAllUsesWith(
          b_.CreateAddrSpaceCast(memory, global->getType()));
      global->eraseFromParent();
    }
  }

  void ReplacePrimitives() {
    std::vector<llvm::CallInst*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(*run_)) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
        calls.push_back(call);
      }
    }
    for (llvm::CallInst* call : calls) {
      b_.SetInsertPoint(call);
      if (call->isInlineAsm()) {
        ReplaceCall(*call);
        continue;
      }
      Value* value = ReplacementOfNumber(*call);
      if (value == nullptr) continue;
      call->replaceAllUsesWith(value);
      call->eraseFromParent();
    }
  }

  void ReplaceCall(llvm::CallInst& call) {
    const auto* ptx = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
    const DeviceCall* row = FindDeviceCall(ptx->getAsmString());
    MXC_CHECK(row != nullptr, "'{}' is no row of primitives.def",
              ptx->getAsmString());
    waits_ = true;
    std::vector<Value*> arguments(call.arg_begin(), call.arg_end());
    if (call.getType()->isVoidTy()) {
      AskThread(row->field, arguments);
    } else {
      call.replaceAllUsesWith(ThroughWords(call, row->field, arguments));
    }
    call.eraseFromParent();
  }

  void AskThread(size_t field, std::vector<Value*> arguments) {
    arguments.insert(arguments.begin(), run_->getArg(0));
    std::vector<llvm::Type*> types;
    for (Value*& argument : arguments) {
      if (argument->getType()->isPointerTy()) {
        argument = b_.CreateAddrSpaceCast(argument, b_.getPtrTy());
      }
      types.push_back(argument->getType());
    }
    b_.CreateCall(llvm::FunctionType::get(b_.getVoidTy(), types, false),
                  Field(field, b_.getPtrTy()), arguments);
  }

  // Each argument and each result is a word, an address two.
  Value* ThroughWords(llvm::CallInst& call, size_t field,
                      const std::vector<Value*>& arguments) {
    Value* words = WordsOnStack();
    const auto at = [&](size_t i) {
      return b_.CreateConstInBoundsGEP1_64(b_.getInt32Ty(), words, i);
    };
    size_t word = 0;
    for (Value* argument : arguments) {
      b_.CreateAlignedStore(argument, at(word), llvm::Align(4));
      word += module_.getDataLayout().getTypeStoreSize(argument->getType()) / 4;
    }
    MXC_CHECK(word <= kMostWords);
    AskThread(field, {words});
    auto* many = llvm::dyn_cast<llvm::StructType>(call.getType());
    if (many == nullptr) return b_.CreateLoad(call.getType(), at(0));
    Value* results = llvm::PoisonValue::get(many);
    for (unsigned i = 0; i < many->getNumElements(); ++i) {
      results = b_.CreateInsertValue(
          results, b_.CreateLoad(many->getElementType(i), at(i)), i);
    }
    return results;
  }

  Value* WordsOnStack() {
    if (words_ != nullptr) return words_;
    const llvm::IRBuilderBase::InsertPointGuard guard(b_);
    b_.SetInsertPoint(&*run_->getEntryBlock().getFirstInsertionPt());
    auto* words = b_.CreateAlloca(b_.getInt32Ty(), b_.getInt32(kMostWords));
    words->setAlignment(llvm::Align(sizeof(void*)));
    words_ = words;
    return words_;
  }

  // Null for what the host has, too.
  Value* ReplacementOfNumber(llvm::CallInst& call) {
    using Thread = mxc_emulated_thread;
    if (call.getCalledFunction() == nullptr) return nullptr;
    switch (call.getIntrinsicID()) {
#define MXC_DEVICE_NUMBER(method, intrinsic, field) \
  case llvm::Intrinsic::intrinsic:                  \
    return Field(offsetof(Thread, field), call.getType());
#include "codegen/cuda/primitives.def"
      default:
        break;
    }
    const bool foreign =
        call.getCalledFunction()->getName().starts_with("llvm.nvvm");
    MXC_CHECK(!foreign, "'{}' is no row of primitives.def",
              call.getCalledFunction()->getName().str());
    return nullptr;
  }

  void TellAccesses() {
    std::vector<llvm::Instruction*> accesses;
    for (llvm::Instruction& instruction : llvm::instructions(*run_)) {
      const Value* at = llvm::getLoadStorePointerOperand(&instruction);
      if (at == nullptr) continue;
      const unsigned space = at->getType()->getPointerAddressSpace();
      if (space == kGlobalMemory || space == kSharedMemory) {
        accesses.push_back(&instruction);
      }
    }
    for (llvm::Instruction* access : accesses) {
      b_.SetInsertPoint(access);
      const uint64_t bytes = module_.getDataLayout().getTypeStoreSize(
          llvm::getLoadStoreType(access));
      const uint64_t alignment = llvm::getLoadStoreAlignment(access).value();
      AskThread(offsetof(mxc_emulated_thread, access),
                {llvm::getLoadStorePointerOperand(access),
                 b_.getInt32(static_cast<uint32_t>(bytes)),
                 b_.getInt32(static_cast<uint32_t>(alignment))});
    }
  }

  // The mxc_emulated_kernel.
  void Export(const std::string& name) {
    llvm::Constant* row = llvm::ConstantStruct::getAnon(
        {run_, b_.getInt32(arguments_), b_.getInt32(waits_ ? 1 : 0)});
    new llvm::GlobalVariable(module_, row->getType(), true,
                             llvm::GlobalValue::ExternalLinkage, row, name);
  }

  llvm::Module& module_;
  llvm::Function& kernel_;
  llvm::IRBuilder<> b_;
  llvm::Function* run_ = nullptr;
  uint32_t arguments_ = 0;
  bool waits_ = false;
  Value* words_ = nullptr;
};

}  // namespace

void Emulate(llvm::Module& module, const std::string& triple,
             const llvm::TargetMachine& host) {
  if (auto* notes = module.getNamedMetadata("nvvm.annotations")) {
    notes->eraseFromParent();
  }
  module.setTargetTriple(triple);
  module.setDataLayout(host.createDataLayout());
  std::vector<llvm::Function*> kernels;
  for (llvm::Function& function : module) {
    if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel) {
      kernels.push_back(&function);
    }
  }
  for (llvm::Function* kernel : kernels) KernelEmulation(module, *kernel).Run();
}

}  // namespace mxc
