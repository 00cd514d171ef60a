// SPDX-License-Identifier: Apache-2.0
// Code for NVIDIA's devices: a step is a kernel that a grid of threads runs.
#include "codegen/backend.h"
#include "codegen/cpu/map_kernel.h"
#include "codegen/cpu/map_nests.h"
#include "codegen/cpu/procedure_kernel.h"
#include "codegen/cpu/scatter_kernel.h"
#include "codegen/cuda/block_reduction.h"
#include "codegen/cuda/compile.h"
#include "codegen/cuda/product_kernel.h"
#include "codegen/cuda/product_shape.h"
#include "codegen/cuda/thread_kernel.h"

namespace mxc {
namespace {

class ProductCatalog : public KernelCatalog {
 public:
  ProductCatalog(const Machine& machine, bool tf32)
      : machine_(machine), tf32_(tf32) {}
  std::vector<KernelCandidate> Candidates(const Contraction& c) const override {
    return ProductCandidates(c, machine_, tf32_);
  }

 private:
  const Machine machine_;
  const bool tf32_;
};

KernelPlan PlanMapOnDevice(const Program& program, const Step& step,
                           const Target& target) {
  if (const auto scatter = PlanScatter(program, step, target)) {
    return OnThreads(program, step, *scatter);
  }
  const auto nests = NestsOf(program, step, target, /*masked_tails=*/false);
  const auto together =
      PlanBlockReduction(nests, target, AlignmentsOf(program, step));
  return together ? *together : OnThreads(program, step, PlanNests(nests));
}

class CudaCode : public Backend {
 public:
  std::unique_ptr<KernelCatalog> MakeCatalog(
      const Target& target, const CatalogOptions& options) const override {
    return std::make_unique<ProductCatalog>(target.machine, options.tf32);
  }

  KernelPlan Plan(const Program& program, const Step& step,
                  const Target& target, const InnerCalls&) const override {
    if (step.body.As<Procedure>()) {
      return OnThreads(program, step, PlanProcedure(program, step, target));
    }
    if (!step.contraction()) return PlanMapOnDevice(program, step, target);
    const std::string& algorithm = step.contraction()->choice.algorithm;
    if (!algorithm.empty()) {
      KernelPlan plan = PlanProduct(program, step, AlignmentsOf(program, step));
      plan.nanoseconds = 1e9 * static_cast<double>(step.flops(program)) /
                         ProductFlopsPerSecond(target.machine, algorithm);
      return plan;
    }
    Step generic = step;
    generic.body = MapOfContraction(program, step);
    return PlanMapOnDevice(program, generic, target);
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
