// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/device_function.h"

#include <vector>

namespace mxc {
namespace {

using llvm::Value;

llvm::Function& DeclareDeviceKernel(llvm::Module& module,
                                    const std::string& name, int operands) {
  llvm::LLVMContext& context = module.getContext();
  const std::vector<llvm::Type*> pointers(
      static_cast<size_t>(operands) + 1,
      llvm::PointerType::get(context, kGlobalMemory));
  llvm::Function* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), pointers, false),
      llvm::Function::ExternalLinkage, name, module);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return *function;
}

}  // namespace

DeviceFunction::DeviceFunction(llvm::Module& module, const std::string& name,
                               int operands, const Target& target,
                               const llvm::TargetMachine& machine)
    : KernelFunction(DeclareDeviceKernel(module, name, operands), target,
                     machine) {
  Annotate("kernel", 1);
  for (int i = 0; i <= operands; ++i) {
    operands_.push_back(
        b().CreateAddrSpaceCast(function()->getArg(i), b().getPtrTy()));
  }
  scratch_ = operands_.back();
  operands_.pop_back();
}

void DeviceFunction::Annotate(const char* key, int value) {
  auto* notes = module().getOrInsertNamedMetadata("nvvm.annotations");
  notes->addOperand(llvm::MDNode::get(
      context(), {llvm::ValueAsMetadata::get(function()),
                  llvm::MDString::get(context(), key),
                  llvm::ValueAsMetadata::get(b().getInt32(value))}));
}

void DeviceFunction::SetAlignment(int operand, int bytes) {
  function()->addParamAttr(operand, llvm::Attribute::getWithAlignment(
                                        context(), llvm::Align(bytes)));
}

void DeviceFunction::EachTask(int64_t tasks, int block_threads,
                              int64_t scratch_bytes,
                              const std::function<void()>& body) {
  Annotate("maxntidx", block_threads);
  Value* number =
      b().CreateAdd(b().CreateMul(Block(), Word(block_threads)), Thread());
  begin_ = b().CreateZExt(number, b().getInt64Ty());
  end_ = b().CreateAdd(begin_, Int(1), "", true, true);
  if (scratch_bytes > 0) {
    scratch_ = b().CreateInBoundsGEP(b().getInt8Ty(), scratch_,
                                     b().CreateMul(begin_, Int(scratch_bytes)));
  }
  If(b().CreateICmpULT(number, Word(tasks)), body);
}

llvm::ConstantInt* DeviceFunction::Word(int64_t value) {
  return b().getInt32(static_cast<uint32_t>(value));
}

#define MXC_DEVICE_NUMBER(method, intrinsic, field)                 \
  Value* DeviceFunction::method() {                                 \
    return b().CreateIntrinsic(llvm::Intrinsic::intrinsic, {}, {}); \
  }
#include "codegen/cuda/primitives.def"

}  // namespace mxc
