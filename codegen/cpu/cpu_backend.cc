// SPDX-License-Identifier: Apache-2.0
// Code for CPUs: a step is one function over a range of its tasks, which LLVM
// compiles to the target's vectors.
#include "codegen/backend.h"
#include "codegen/cpu/contraction/catalog.h"
#include "codegen/cpu/contraction/contraction.h"
#include "codegen/cpu/map_kernel.h"
#include "codegen/cpu/task_ranges.h"
#include "codegen/cpu/tile_loop_kernel.h"
#include "codegen/loops/generic_contraction.h"
#include "codegen/loops/procedure_kernel.h"
#include "ir/support/check.h"

namespace mxc {
namespace {

KernelPlan PlanProduct(const Program& program, const Step& step,
                       const Target& target) {
  if (!step.contraction()->choice.algorithm.empty()) {
    return PlanContraction(program, step, target);
  }
  Step generic = step;
  generic.body = MapOfContraction(program, step, kTaskRanges);
  return PlanMap(program, generic, target);
}

class CpuCode : public Backend {
 public:
  std::unique_ptr<KernelCatalog> MakeCatalog(
      const Target& target, const CatalogOptions& options) const override {
    return MakeCpuCatalog(target, options);
  }

  KernelPlan Plan(const Program& program, const Step& step,
                  const Target& target,
                  const InnerCalls& calls_of) const override {
    if (step.map()) return PlanMap(program, step, target);
    if (step.contraction()) return PlanProduct(program, step, target);
    if (step.body.As<Procedure>()) return PlanProcedure(program, step, target);
    if (const TileLoop* loop = step.loop()) {
      return PlanTileLoop(program, step, calls_of(*loop->tile));
    }
    if (const auto lowered = step.body.Lower(program, step)) {
      Step as = step;
      as.body = *lowered;
      return Plan(program, as, target, calls_of);
    }
    MXC_CHECK(false, "no code for the kind of step '{}'", step.name);
  }

  CompiledKernels Compile(std::span<const KernelSource> sources,
                          const Target& target,
                          const CompileOptions& options) const override {
    return CompileKernels(sources, target, options);
  }
};

}  // namespace

const Backend& CpuBackend() {
  static const CpuCode backend;
  return backend;
}

}  // namespace mxc
