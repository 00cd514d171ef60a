// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/kernel_table.h"

#include <vector>

#include "codegen/llvm/session.h"
#include "runtime/abi/abi.h"

namespace mxc {
namespace {

// The words of the symbols of runtime/abi/abi.h.
class TableEmitter {
 public:
  explicit TableEmitter(llvm::Module& module)
      : module_(module), context_(module.getContext()) {}

  llvm::Constant* U32(uint64_t value) const {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), value);
  }
  llvm::Constant* U64(uint64_t value) const {
    return llvm::ConstantInt::get(llvm::Type::getInt64Ty(context_), value);
  }
  llvm::Constant* Struct(llvm::ArrayRef<llvm::Constant*> words) const {
    return llvm::ConstantStruct::getAnon(words);
  }

  void Add(const char* name, llvm::Constant* value) {
    new llvm::GlobalVariable(module_, value->getType(), /*isConstant=*/true,
                             llvm::GlobalValue::ExternalLinkage, value, name);
  }
  void Add(const char* name, llvm::Type* type,
           const std::vector<llvm::Constant*>& rows) {
    Add(name, llvm::ConstantArray::get(llvm::ArrayType::get(type, rows.size()),
                                       rows));
  }
  // `empty` gives the type of a row where there is none.
  void Add(const char* name, llvm::Constant* empty,
           const std::vector<llvm::Constant*>& rows) {
    Add(name, empty->getType(), rows);
  }

  llvm::Constant* Kernel(const std::string& name) {
    auto* pointer = llvm::PointerType::getUnqual(context_);
    auto* i64 = llvm::Type::getInt64Ty(context_);
    auto* signature = llvm::FunctionType::get(
        llvm::Type::getVoidTy(context_), {pointer, i64, i64, pointer}, false);
    auto* function = llvm::cast<llvm::Function>(
        module_.getOrInsertFunction(name, signature).getCallee());
    // The table must hold the kernel itself, not a stub of the linker's.
    function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    return function;
  }

  // mxc_operand_limits; on all targets the type is the low byte.
  llvm::Constant* Operand(const KernelRow::Operand& operand) const {
    return Struct(
        {U64(operand.bytes), U64(static_cast<uint64_t>(operand.dtype))});
  }

  // mxc_kernel_limits
  llvm::Constant* Limits(const KernelRow& kernel, size_t first_operand) const {
    return Struct({U64(kernel.tasks), U64(kernel.scratch_bytes),
                   U32(first_operand), U32(kernel.operands.size()),
                   U32(kernel.inputs), U32(0)});
  }

 private:
  llvm::Module& module_;
  llvm::LLVMContext& context_;
};

void EmitTables(llvm::Module& module, const CodeImage& code,
                uint64_t tables_checksum) {
  TableEmitter emit(module);
  auto* pointer = llvm::PointerType::getUnqual(module.getContext());
  std::vector<llvm::Constant*> kernels, limits, operands;
  for (const KernelRow& row : code.kernels) {
    kernels.push_back(code.objects.empty()
                          ? llvm::ConstantPointerNull::get(pointer)
                          : emit.Kernel(row.name));
    limits.push_back(emit.Limits(row, operands.size()));
    for (const auto& operand : row.operands) {
      operands.push_back(emit.Operand(operand));
    }
  }
  emit.Add("mxc_kernels", pointer, kernels);
  emit.Add("mxc_limits", emit.Limits({}, 0), limits);
  emit.Add("mxc_operands", emit.Operand({}), operands);
  emit.Add("mxc_abi", emit.Struct({emit.U32(MXC_ABI_VERSION),
                                   emit.U32(code.kernels.size()),
                                   emit.U64(tables_checksum),
                                   emit.U32(operands.size()), emit.U32(0)}));
}

}  // namespace

std::string EmitKernelTable(const CodeImage& code, uint64_t tables_checksum,
                            const Target& target) {
  return CompileModule(target, "mxc_kernels", [&](llvm::Module& module) {
    EmitTables(module, code, tables_checksum);
  });
}

}  // namespace mxc
