// SPDX-License-Identifier: Apache-2.0
// Code for NVIDIA's devices: a step is a kernel that a grid of threads runs.
#include "codegen/backend.h"
#include "codegen/cpu/map_kernel.h"
#include "codegen/cpu/map_nests.h"
#include "codegen/cpu/procedure_kernel.h"
#include "codegen/cpu/scatter_kernel.h"
#include "codegen/cuda/compile.h"
#include "codegen/cuda/thread_kernel.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

// Contractions are loop nests.
class NoKernels : public KernelCatalog {
 public:
  std::vector<KernelCandidate> Candidates(const Contraction&) const override {
    return {};
  }
};

KernelPlan PlanTasks(const Program& program, const Step& step,
                     const Target& target) {
  if (step.body.As<Procedure>()) return PlanProcedure(program, step, target);
  if (step.contraction()) {
    Step generic = step;
    generic.body = MapOfContraction(program, step);
    return PlanNests(program, generic, target, /*masked_tails=*/false);
  }
  MXC_CHECK(step.map() != nullptr, "no code for the kind of step '{}'",
            step.name);
  if (auto scatter = PlanScatter(program, step, target)) return *scatter;
  return PlanNests(program, step, target, /*masked_tails=*/false);
}

class CudaCode : public Backend {
 public:
  std::unique_ptr<KernelCatalog> MakeCatalog(
      const Target&, const CatalogOptions&) const override {
    return std::make_unique<NoKernels>();
  }

  KernelPlan Plan(const Program& program, const Step& step,
                  const Target& target, const InnerCalls&) const override {
    return OnThreads(program, step, PlanTasks(program, step, target));
  }

  std::string KeyOf(const Program& program, const Step& step) const override {
    return AlignmentsOf(program, step);
  }

  CompiledKernels Compile(std::span<const KernelSource> sources,
                          const Target& target,
                          const CompileOptions& options) const override {
    DeviceCode code = CompileForDevice(sources, target, options);
    CompiledKernels kernels;
    const auto version = static_cast<uint32_t>(target.sm);
    kernels.llvm = std::move(code.llvm);
    if (options.keep_assembly) kernels.assembly = code.ptx;
    if (code.emulated.empty()) {
      kernels.forms.push_back({MXC_IMAGE_PTX, version, code.ptx + '\0'});
    } else {
      kernels.forms.push_back(
          {MXC_IMAGE_EMULATED, version, std::move(code.emulated)});
    }
    return kernels;
  }
};

}  // namespace

const Backend& CudaBackend() {
  static const CudaCode backend;
  return backend;
}

}  // namespace mxc
