// SPDX-License-Identifier: Apache-2.0
// Code for CPUs: a step is one function over a range of its tasks, which LLVM
// compiles to the target's vectors.
#include <optional>
#include <utility>

#include "codegen/backend.h"
#include "codegen/cpu/contraction/catalog.h"
#include "codegen/cpu/contraction/contraction.h"
#include "codegen/cpu/contraction/weight_transform.h"
#include "codegen/cpu/kernel_options.h"
#include "codegen/cpu/task_ranges.h"
#include "codegen/cpu/tile_loop_kernel.h"
#include "codegen/cpu/transpose_kernel.h"
#include "codegen/loops/plan.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/tile_loop.h"

namespace mxc {
namespace {

// The kernels of some forms of Maps that are faster than their loops.
std::optional<FunctionPlan> PlanSpecialMap(const Program& program,
                                           const Step& step,
                                           const Target& target) {
  if (step.map() == nullptr) return std::nullopt;
  if (auto plan = PlanWeightTransform(program, step, target)) return plan;
  return PlanTranspose(program, step, target);
}

// Takes a Map or a Procedure.
FunctionPlan PlanLowered(const Program& program, const Step& step,
                         const Target& target) {
  if (auto special = PlanSpecialMap(program, step, target)) {
    return std::move(*special);
  }
  return PlanGeneric(program, step, target, kTaskRanges).kernel;
}

FunctionPlan PlanKernel(const Program& program, const Step& step,
                        const Target& target, const InnerCalls& calls_of) {
  if (const TileLoop* loop = step.loop()) {
    return PlanTileLoop(program, step, calls_of(*loop->tile));
  }
  const Step lowered = Lowered(program, step, kTaskRanges);
  if (lowered.contraction()) return PlanContraction(program, lowered, target);
  return PlanLowered(program, lowered, target);
}

class CpuCatalog : public ContractionCatalog {
 public:
  using ContractionCatalog::ContractionCatalog;

  double KernelSeconds(const Program& program,
                       const Step& step) const override {
    const Step lowered = Lowered(program, step, kTaskRanges);
    return IsGeneric(lowered)
               ? 1e-9 * PlanLowered(program, lowered, target()).nanoseconds
               : KernelCatalog::KernelSeconds(program, step);
  }
};

class CpuCode : public Backend {
 public:
  std::unique_ptr<KernelCatalog> MakeCatalog(
      const Target& target, const CatalogOptions& options) const override {
    return std::make_unique<CpuCatalog>(target, options);
  }

  KernelPlan Plan(const Program& program, const Step& step,
                  const Target& target,
                  const InnerCalls& calls_of) const override {
    return {PlanKernel(program, step, target, calls_of), step, target};
  }

  CompiledKernels Compile(std::span<const KernelSource> sources,
                          const Target& target,
                          const CompileOptions& options) const override {
    return CompileKernels(sources, target, options);
  }

  bool Takes(const Target&, std::string_view option) const override {
    return IsKernelOption(option);
  }
};

}  // namespace

const Backend& CpuBackend() {
  static const CpuCode backend;
  return backend;
}

}  // namespace mxc
