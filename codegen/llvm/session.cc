// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/session.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "codegen/llvm/optimize.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

void InitializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine> MakeMachine(const Target& target) {
  InitializeTargets();
  std::string error;
  const llvm::Target* found =
      llvm::TargetRegistry::lookupTarget(target.triple, error);
  MXC_CHECK(found != nullptr, "{}", error);
  return std::unique_ptr<llvm::TargetMachine>(found->createTargetMachine(
      target.triple, /*CPU=*/"", target.features, llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

std::unique_ptr<llvm::Module> MakeModule(llvm::LLVMContext& context,
                                         const std::string& name,
                                         const Target& target,
                                         const llvm::TargetMachine& machine) {
  auto module = std::make_unique<llvm::Module>(name, context);
  module->setTargetTriple(target.triple);
  module->setDataLayout(machine.createDataLayout());
  module->setSourceFileName(name);
  return module;
}

struct Texts {
  std::string object, llvm, assembly;
};

void Emit(llvm::Module& module, llvm::TargetMachine& machine,
          const CompileOptions& options, Texts& out) {
  Optimize(module, machine);
  if (options.keep_llvm) {
    llvm::raw_string_ostream stream(out.llvm);
    module.print(stream, nullptr);
  }
  if (options.keep_assembly) {
    // Code generation changes the module.
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
    out.assembly =
        EmitFile(*copy, machine, llvm::CodeGenFileType::AssemblyFile);
  }
  out.object = EmitFile(module, machine, llvm::CodeGenFileType::ObjectFile);
}

void CompileOne(const KernelSource& source, const Target& target,
                llvm::TargetMachine& machine, const CompileOptions& options,
                Texts& out) {
  llvm::LLVMContext context;
  auto module = MakeModule(context, source.name, target, machine);
  KernelFunction kernel(*module, source.name, source.operands, target, machine);
  source.emit(kernel);
  kernel.Finish();
  Emit(*module, machine, options, out);
}

bool AskMaskedVectors(const Target& target, DType dtype) {
  const auto machine = MakeMachine(target);
  llvm::LLVMContext context;
  const auto module = MakeModule(context, "features", target, *machine);
  KernelFunction kernel(*module, "features", 0, target, *machine);
  const auto lanes = static_cast<int>(target.vector_bytes / SizeOf(dtype));
  const bool has = kernel.HasMaskedAccess(kernel.MemoryType(dtype), lanes);
  kernel.Finish();
  return has;
}

}  // namespace

bool HasMaskedVectors(const Target& target, std::span<const DType> dtypes) {
  // To ask LLVM takes a millisecond, and every kernel wants to know.
  static std::mutex mutex;
  static std::map<std::pair<std::string, DType>, bool> answers;
  const std::lock_guard lock(mutex);
  return std::ranges::all_of(dtypes, [&](DType dtype) {
    const auto [answer, asked] =
        answers.try_emplace({target.triple + target.features, dtype});
    if (asked) answer->second = AskMaskedVectors(target, dtype);
    return answer->second;
  });
}

CompiledKernels CompileKernels(std::span<const KernelSource> sources,
                               const Target& target,
                               const CompileOptions& options) {
  std::vector<Texts> texts(sources.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    const auto machine = MakeMachine(target);
    for (size_t i = next++; i < sources.size(); i = next++) {
      CompileOne(sources[i], target, *machine, options, texts[i]);
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < options.threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();

  CompiledKernels compiled;
  for (Texts& text : texts) {
    compiled.objects.push_back(std::move(text.object));
    compiled.llvm += text.llvm;
    compiled.assembly += text.assembly;
  }
  return compiled;
}

std::string CompileModule(const Target& target, const std::string& name,
                          const std::function<void(llvm::Module&)>& write) {
  const auto machine = MakeMachine(target);
  llvm::LLVMContext context;
  auto module = MakeModule(context, name, target, *machine);
  write(*module);
  Texts out;
  Emit(*module, *machine, {}, out);
  return std::move(out.object);
}

}  // namespace mxc
