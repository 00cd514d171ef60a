// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/optimize.h"

#include "codegen/llvm/pass_builder.h"
#include "codegen/llvm/transforms.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

llvm::TargetLibraryInfoImpl NoLibrary(const llvm::Module& module) {
  llvm::TargetLibraryInfoImpl library(llvm::Triple(module.getTargetTriple()));
  library.disableAllFunctions();
  return library;
}

llvm::FunctionPassManager CleanUp() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

}  // namespace

void Optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  std::string message;
  llvm::raw_string_ostream stream(message);
  MXC_CHECK(!llvm::verifyModule(module, &stream), "{}: {}",
            module.getModuleIdentifier(), message);
  const bool has_code = llvm::any_of(
      module, [](const auto& function) { return !function.isDeclaration(); });
  if (has_code) RunPasses(module, machine, CleanUp());
}

void RunPasses(llvm::Module& module, llvm::TargetMachine& machine,
               llvm::FunctionPassManager passes) {
  llvm::LoopAnalysisManager loop_analyses;
  llvm::FunctionAnalysisManager function_analyses;
  llvm::CGSCCAnalysisManager graph_analyses;
  llvm::ModuleAnalysisManager module_analyses;
  llvm::PassBuilder builder(&machine);
  const llvm::TargetLibraryInfoImpl library = NoLibrary(module);
  function_analyses.registerPass(
      [&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(module_analyses);
  builder.registerCGSCCAnalyses(graph_analyses);
  builder.registerFunctionAnalyses(function_analyses);
  builder.registerLoopAnalyses(loop_analyses);
  builder.crossRegisterProxies(loop_analyses, function_analyses, graph_analyses,
                               module_analyses);
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) passes.run(function, function_analyses);
  }
}

void AddPassesToEmit(llvm::legacy::PassManager& passes,
                     const llvm::Module& module, llvm::TargetMachine& machine,
                     llvm::raw_pwrite_stream& stream,
                     llvm::CodeGenFileType type) {
  passes.add(new llvm::TargetLibraryInfoWrapperPass(NoLibrary(module)));
  MXC_CHECK(!machine.addPassesToEmitFile(passes, stream, nullptr, type));
}

std::string EmitFile(llvm::Module& module, llvm::TargetMachine& machine,
                     llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  AddPassesToEmit(passes, module, machine, stream, type);
  passes.run(module);
  return {bytes.begin(), bytes.end()};
}

}  // namespace mxc
