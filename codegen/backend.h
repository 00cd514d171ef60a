// SPDX-License-Identifier: Apache-2.0
// Backend: what a kind of machine must give so that programs are compiled for
// it: what its kernels can do, and the kernel of each step. A new one is a
// folder and a line in targets.def.
//
// Any thread may use it at any time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "codegen/codegen.h"
#include "codegen/llvm/kernel_plan.h"
#include "codegen/llvm/session.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::unique_ptr<KernelCatalog> MakeCatalog(
      const Target& target, const CatalogOptions& options) const = 0;

  // The kernel of a step that has something to do and that the runtime does
  // not walk itself, as it does calls and repeats.
  virtual KernelPlan Plan(const Program& program, const Step& step,
                          const Target& target,
                          const InnerCalls& calls_of) const = 0;

  // What the kernel relies on beside the step itself (KeyOf of ir/program):
  // steps with equal texts may share one.
  virtual std::string KeyOf(const Program&, const Step&) const { return ""; }

  virtual CompiledKernels Compile(std::span<const KernelSource> sources,
                                  const Target& target,
                                  const CompileOptions& options) const = 0;

  // Adds what `options` ask for that can fail where compiling cannot.
  virtual Status Finish(const BackEndOptions& /*options*/,
                        CompiledKernels& /*kernels*/) const {
    return Done{};
  }

  // Returns whether CatalogOptions or CodegenOptions may have an option of that
  // name.
  virtual bool Takes(const Target& /*target*/,
                     std::string_view /*option*/) const {
    return false;
  }
};

// That which the target names.
const Backend& BackendOf(const Target& target);

#define MXC_BACKEND(name, Function) const Backend& Function();
#include "codegen/targets.def"
#undef MXC_BACKEND

}  // namespace mxc
