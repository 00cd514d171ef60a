// SPDX-License-Identifier: Apache-2.0
#include "tests/codegen/toy/toy_backend.h"

#include "codegen/loops/plan.h"
#include "ir/program/steps/contraction.h"
#include "tests/support/levels.h"

namespace mxc::test {
namespace {

int OneLane(const Machine&, std::span<const DType>) { return 1; }

void DealElements(LoopNest& nest) {
  nest.row_dim = -1;
  nest.row_chunks = 1;
  nest.grid_dims = static_cast<int>(nest.dims.size());
  nest.tasks = nest.GridSize();
}

void DealElements(const Target&, ScatterGrid& grid) {
  grid.lanes = 1;
  grid.tasks = grid.points();
}

constexpr Dealing kTaskPerElement = {.one_task_each = true,
                                     .lanes = OneLane,
                                     .deal = DealElements,
                                     .deal_scatter = DealElements};

class ToyCode : public Backend {
 public:
  std::unique_ptr<KernelCatalog> MakeCatalog(
      const Target&, const CatalogOptions&) const override {
    return std::make_unique<KernelCatalog>();
  }

  KernelPlan Plan(const Program& program, const Step& step,
                  const Target& target, const InnerCalls&) const override {
    KernelPlan plan = {
        PlanGeneric(program, step, target, kTaskPerElement).kernel, step,
        target};
    plan.launch.grid[0] = static_cast<uint32_t>(plan.tasks);
    return plan;
  }

  CompiledKernels Compile(std::span<const KernelSource> sources,
                          const Target& target,
                          const CompileOptions& options) const override {
    return CompileKernels(sources, target, options);
  }
};

}  // namespace

const Backend& ToyBackend() {
  static const ToyCode backend;
  return backend;
}

Target ToyTarget() {
  Target target = RunnableTargets().front();
  target.name = target.backend = "toy";
  return target;
}

}  // namespace mxc::test
