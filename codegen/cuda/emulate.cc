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

class KernelEmulation {
 public:
  KernelEmulation(llvm::Module& module, llvm::Function& kernel)
      : module_(module), kernel_(kernel), b_(module.getContext()) {}

  void Run() {
    const std::string name = kernel_.getName().str();
    kernel_.setName(name + ".body");
    arguments_ = static_cast<uint32_t>(kernel_.arg_size());
    MakeThreadFunction(name + ".thread");
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

  void ReplacePrimitives() {
    std::vector<llvm::IntrinsicInst*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(*run_)) {
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) {
        calls.push_back(call);
      }
    }
    for (llvm::IntrinsicInst* call : calls) {
      b_.SetInsertPoint(call);
      Value* value = Replacement(*call);
      if (value == nullptr) continue;
      call->replaceAllUsesWith(value);
      call->eraseFromParent();
    }
  }

  // Null for what the host has, too.
  Value* Replacement(llvm::IntrinsicInst& call) {
    using Thread = mxc_emulated_thread;
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
      if (at != nullptr &&
          at->getType()->getPointerAddressSpace() == kGlobalMemory) {
        accesses.push_back(&instruction);
      }
    }
    for (llvm::Instruction* access : accesses) {
      b_.SetInsertPoint(access);
      const uint64_t bytes = module_.getDataLayout().getTypeStoreSize(
          llvm::getLoadStoreType(access));
      const uint64_t alignment = llvm::getLoadStoreAlignment(access).value();
      Value* address = llvm::getLoadStorePointerOperand(access);
      b_.CreateCall(
          llvm::FunctionType::get(b_.getVoidTy(),
                                  {b_.getPtrTy(), address->getType(),
                                   b_.getInt32Ty(), b_.getInt32Ty()},
                                  false),
          Field(offsetof(mxc_emulated_thread, access), b_.getPtrTy()),
          {run_->getArg(0), address, b_.getInt32(static_cast<uint32_t>(bytes)),
           b_.getInt32(static_cast<uint32_t>(alignment))});
    }
  }

  // The mxc_emulated_kernel.
  void Export(const std::string& name) {
    llvm::Constant* row = llvm::ConstantStruct::getAnon(
        {run_, b_.getInt32(arguments_), b_.getInt32(0)});
    new llvm::GlobalVariable(module_, row->getType(), true,
                             llvm::GlobalValue::ExternalLinkage, row, name);
  }

  llvm::Module& module_;
  llvm::Function& kernel_;
  llvm::IRBuilder<> b_;
  llvm::Function* run_ = nullptr;
  uint32_t arguments_ = 0;
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
