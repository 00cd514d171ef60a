// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/session.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "codegen/cache/object_cache.h"
#include "codegen/llvm/lent_machine.h"
#include "codegen/llvm/module_key.h"
#include "codegen/llvm/multiply_adds.h"
#include "codegen/llvm/object_symbols.h"
#include "codegen/llvm/optimize.h"
#include "codegen/llvm/transforms.h"
#include "ir/support/check.h"
#include "ir/support/threads.h"

namespace mxc {
namespace {

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

// What every kernel is called while it is compiled, so that equal ones are
// found in the cache whatever the steps are called.
constexpr char kSymbol[] = "mxc_kernel";

// What a kernel is called while it is compiled for the target: objcopy renames
// no symbols of WebAssembly.
std::string SymbolOf(const KernelSource& source, const Target& target) {
  return target.runs_in_page() ? source.name : kSymbol;
}

struct Compiled {
  std::string object, llvm, assembly;
  bool cached = false;
};

void KeepTexts(const llvm::Module& module, const std::string& name,
               llvm::TargetMachine& machine, const CompileOptions& options,
               Compiled& out) {
  // Code generation changes the module.
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  if (llvm::Function* kernel = copy->getFunction(kSymbol))
    kernel->setName(name);
  copy->setModuleIdentifier(name);
  copy->setSourceFileName(name);
  if (options.keep_llvm) {
    llvm::raw_string_ostream stream(out.llvm);
    copy->print(stream, nullptr);
  }
  if (options.keep_assembly) {
    out.assembly =
        EmitFile(*copy, machine, llvm::CodeGenFileType::AssemblyFile);
  }
}

// The object of a kernel's module, with kSymbol; consumes the module.
std::string ObjectOf(llvm::Module& module, const std::string& name,
                     const Target& target, LentMachine& machine,
                     const CompileOptions& options, Compiled& out) {
  const bool relaxed =
      target.features.find("+relaxed-simd") != std::string::npos;
  if (!relaxed) WriteOutMultiplyAdds(module, target.order.fuses);
  const bool texts = options.keep_llvm || options.keep_assembly;
  const std::string key = options.cache != nullptr && !texts
                              ? KeyOfModule(module, target)
                              : std::string();
  if (!key.empty()) {
    if (auto found = options.cache->Find(key)) {
      out.cached = true;
      return std::move(*found);
    }
  }
  Optimize(module, *machine);
  if (relaxed) UseRelaxedMultiplyAdds(module);
  if (target.isa == "sve") {
    UseScalableMultiplyAdds(module, target.register_bytes);
  }
  if (texts) KeepTexts(module, name, *machine, options, out);
  std::string object = machine.ObjectOf(module);
  if (!key.empty()) options.cache->Keep(key, object);
  return object;
}

void CompileOne(const KernelSource& source, const Target& target,
                LentMachine& machine, const CompileOptions& options,
                Compiled& out) {
  llvm::LLVMContext context;
  const std::string symbol = SymbolOf(source, target);
  auto module = MakeModule(context, symbol, target, *machine);
  source.write(*module, symbol, *machine);
  out.object = ObjectOf(*module, source.name, target, machine, options, out);
  if (symbol == source.name) return;
  out.object = RenameSymbol(out.object, symbol, source.name);
}

bool AskMaskedAccess(Target target, DType dtype, int lanes) {
  target.isa = target.order.isa;
  target.triple = target.order.triple;
  target.features = target.order.features;
  target.cpu.clear();
  target.register_bytes = target.machine.vector_bytes;
  const LentMachine machine(target.triple, target.features);
  llvm::LLVMContext context;
  const auto module = MakeModule(context, "features", target, *machine);
  KernelFunction kernel(*module, "features", 0, target, *machine);
  const bool has = kernel.HasMaskedAccess(kernel.MemoryType(dtype), lanes);
  kernel.Finish();
  return has;
}

}  // namespace

bool OrderHasMaskedAccess(const Target& target, DType dtype, int lanes) {
  // To ask LLVM takes a millisecond, and every kernel wants to know.
  static std::mutex mutex;
  static std::map<std::tuple<std::string, DType, int>, bool> answers;
  const std::lock_guard lock(mutex);
  const auto [answer, asked] = answers.try_emplace(
      {target.order.triple + target.order.features, dtype, lanes});
  if (asked) answer->second = AskMaskedAccess(target, dtype, lanes);
  return answer->second;
}

bool HasMaskedVectors(const Target& target, std::span<const DType> dtypes) {
  return std::ranges::all_of(dtypes, [&](DType dtype) {
    return OrderHasMaskedAccess(target, dtype, target.machine.lanes(dtype));
  });
}

CompiledKernels CompileKernels(std::span<const KernelSource> sources,
                               const Target& target,
                               const CompileOptions& options) {
  std::vector<Compiled> results(sources.size());
  std::atomic<size_t> next{0};
  if (options.count != nullptr) options.count->total += std::ssize(sources);
  const auto threads =
      static_cast<int>(std::min(static_cast<size_t>(options.threads),
                                std::max<size_t>(1, sources.size())));
  RunOnThreads(threads, [&] {
    LentMachine machine(target.triple, target.features);
    for (size_t i = next++; i < sources.size(); i = next++) {
      CompileOne(sources[i], target, machine, options, results[i]);
      if (options.count != nullptr) options.count->Raise(1);
    }
  });
  if (options.cache != nullptr) options.cache->Trim();

  CompiledKernels compiled;
  for (Compiled& result : results) {
    compiled.objects.push_back(std::move(result.object));
    compiled.llvm += result.llvm;
    compiled.assembly += result.assembly;
    compiled.cached += result.cached;
  }
  return compiled;
}

std::string CompileModule(const Target& target, const std::string& name,
                          const std::function<void(llvm::Module&)>& write) {
  LentMachine machine(target.triple, target.features);
  llvm::LLVMContext context;
  auto module = MakeModule(context, name, target, *machine);
  write(*module);
  Optimize(*module, *machine);
  return machine.ObjectOf(*module);
}

}  // namespace mxc
