// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/compile.h"

#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "codegen/cuda/emulate.h"
#include "codegen/cuda/gpu_machine.h"
#include "codegen/llvm/lent_machine.h"
#include "codegen/llvm/link.h"
#include "codegen/llvm/optimize.h"
#include "codegen/llvm/transforms.h"
#include "ir/support/check.h"
#include "ir/support/threads.h"

namespace mxc {
namespace {

constexpr char kTriple[] = "nvptx64-nvidia-cuda";
// Of CUDA 11.8, and of 12.0, which knows sm_90a: drivers since then take it.
constexpr char kPtxVersion[] = "+ptx78", kOneGenerationPtxVersion[] = "+ptx80";

std::unique_ptr<llvm::TargetMachine> DeviceMachine(const GpuMachine& machine) {
  return MakeTargetMachine(
      kTriple, machine.architecture,
      machine.one_generation ? kOneGenerationPtxVersion : kPtxVersion);
}

// Loops of one round go; accesses become as wide as their operands' alignment
// allows, and name the memory that they are to.
llvm::FunctionPassManager ForDevice() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::IndVarSimplifyPass());
  loops.addPass(llvm::LoopDeletionPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::InferAddressSpacesPass());
  passes.addPass(llvm::InferAlignmentPass());
  return passes;
}

struct Form {
  std::string code, llvm;  // PTX, or an object of the host
};

Form CompileOne(const KernelSource& source, const Target& target,
                llvm::TargetMachine& device, llvm::TargetMachine* host,
                bool keep_llvm) {
  llvm::LLVMContext context;
  llvm::Module module(source.name, context);
  module.setTargetTriple(kTriple);
  module.setDataLayout(device.createDataLayout());
  source.write(module, source.name, device);
  Optimize(module, device);
  RunPasses(module, device, ForDevice());
  Form form;
  if (keep_llvm) {
    llvm::raw_string_ostream stream(form.llvm);
    module.print(stream, nullptr);
  }
  if (host == nullptr) {
    form.code = EmitFile(module, device, llvm::CodeGenFileType::AssemblyFile);
    return form;
  }
  Emulate(module, target.triple, *host);
  Optimize(module, *host);
  form.code = EmitFile(module, *host, llvm::CodeGenFileType::ObjectFile);
  return form;
}

// Each text begins with the same version, target and address size: only the
// first keeps them.
std::string_view WithoutHeader(std::string_view ptx) {
  constexpr std::string_view kLast = ".address_size 64\n";
  const size_t at = ptx.find(kLast);
  MXC_CHECK(at != std::string_view::npos);
  return ptx.substr(at + kLast.size());
}

}  // namespace

DeviceCode CompileForDevice(std::span<const KernelSource> sources,
                            const Target& target,
                            const CompileOptions& options) {
  const GpuMachine machine = GpuMachineOf(target);
  std::vector<Form> forms(sources.size());
  std::atomic<size_t> next{0};
  if (options.count != nullptr) options.count->total += std::ssize(sources);
  RunOnThreads(options.threads, [&] {
    const auto device = DeviceMachine(machine);
    std::optional<LentMachine> host;
    if (machine.emulated) host.emplace(target.triple, target.features);
    for (size_t i = next++; i < sources.size(); i = next++) {
      forms[i] = CompileOne(sources[i], target, *device,
                            host ? &**host : nullptr, options.keep_llvm);
      if (options.count != nullptr) options.count->Raise(1);
    }
  });
  DeviceCode code;
  std::vector<std::string> objects;
  for (Form& form : forms) {
    code.llvm += form.llvm;
    if (machine.emulated) {
      objects.push_back(std::move(form.code));
    } else {
      code.ptx += code.ptx.empty() ? form.code : WithoutHeader(form.code);
    }
  }
  if (!objects.empty()) {
    auto linked = Link(objects);
    MXC_CHECK(linked.ok(), "{}", linked.errors()[0].message);
    code.emulated = std::move(*linked);
  }
  return code;
}

}  // namespace mxc
