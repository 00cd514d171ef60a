// SPDX-License-Identifier: Apache-2.0
#include "codegen/web/entry_module.h"

#include <algorithm>

#include "codegen/llvm/llvm.h"
#include "codegen/llvm/session.h"
#include "runtime/abi/abi.h"

namespace mxc {
namespace {

class ModuleWriter {
 public:
  ModuleWriter(llvm::Module& module, const WebMemory& memory)
      : module_(module),
        weights_(Define(memory.weights)),
        states_(Define(memory.states)),
        arena_(Define(memory.arena)),
        tensors_(Define(memory.tensors)) {}

  // `i32 symbol(i32 first, i32 end)`, which calls the entry's function with
  // constants and these.
  void Export(const ExportedEntry& entry) {
    llvm::LLVMContext& context = module_.getContext();
    llvm::Type* i32 = llvm::Type::getInt32Ty(context);
    llvm::Function* function =
        llvm::Function::Create(llvm::FunctionType::get(i32, {i32, i32}, false),
                               llvm::GlobalValue::ExternalLinkage,
                               "mxc_page_" + entry.symbol, module_);
    function->addFnAttr("wasm-export-name", entry.symbol);
    llvm::IRBuilder<> builder(
        llvm::BasicBlock::Create(context, "entry", function));
    std::vector<llvm::Value*> arguments = {weights_, arena_};
    if (entry.function->has_states) arguments.push_back(states_);
    for (const auto* offsets : {&entry.inputs, &entry.outputs}) {
      for (const int64_t offset : *offsets) {
        arguments.push_back(builder.CreateConstInBoundsGEP1_64(
            builder.getInt8Ty(), tensors_, offset));
      }
    }
    std::vector<llvm::Type*> types(arguments.size(), builder.getPtrTy());
    types.resize(types.size() + 2, i32);
    arguments.push_back(function->getArg(0));
    arguments.push_back(function->getArg(1));
    const llvm::FunctionCallee callee = module_.getOrInsertFunction(
        entry.function->symbol, llvm::FunctionType::get(i32, types, false));
    builder.CreateRet(builder.CreateCall(callee, arguments));
  }

 private:
  // Zeros take no bytes of the module.
  llvm::Constant* Define(const Region& region) {
    const int64_t bytes = std::max<int64_t>(region.bytes, MXC_ARENA_ALIGNMENT);
    llvm::Type* type =
        llvm::ArrayType::get(llvm::Type::getInt8Ty(module_.getContext()),
                             static_cast<uint64_t>(bytes));
    auto* variable = new llvm::GlobalVariable(
        module_, type, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage,
        llvm::Constant::getNullValue(type), region.symbol);
    variable->setAlignment(llvm::Align(MXC_ARENA_ALIGNMENT));
    return variable;
  }

  llvm::Module& module_;
  llvm::Constant *weights_, *states_, *arena_, *tensors_;
};

}  // namespace

std::string EmitEntryModule(const WebMemory& memory,
                            std::span<const ExportedEntry> entries,
                            const Target& target) {
  return CompileModule(target, "mxc_page", [&](llvm::Module& module) {
    ModuleWriter writer(module, memory);
    for (const ExportedEntry& entry : entries) writer.Export(entry);
  });
}

}  // namespace mxc
