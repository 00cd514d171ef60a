// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/step_kernel.h"

#include "codegen/cpu/map_kernel.h"
#include "codegen/cpu/map_nests.h"
#include "codegen/cpu/procedure_kernel.h"
#include "codegen/cpu/scatter_kernel.h"
#include "codegen/cuda/block_reduction.h"
#include "codegen/cuda/product_kernel.h"
#include "codegen/cuda/product_shape.h"

namespace mxc {

StepKernel PlanStep(const Program& program, const Step& step,
                    const Target& target, const std::string& alignments,
                    int task_threads) {
  const auto on_threads = [&](KernelPlan tasks) -> StepKernel {
    return {OnThreads(std::move(tasks), alignments, task_threads), true};
  };
  if (step.body.As<Procedure>()) {
    return on_threads(PlanProcedure(program, step, target));
  }
  if (const ContractionStep* contraction = step.contraction()) {
    const std::string& algorithm = contraction->choice.algorithm;
    if (!algorithm.empty()) {
      KernelPlan plan = PlanProduct(program, step, alignments);
      plan.nanoseconds = 1e9 * static_cast<double>(step.flops(program)) /
                         ProductFlopsPerSecond(target.machine, algorithm);
      return {std::move(plan)};
    }
    Step generic = step;
    generic.body = MapOfContraction(program, step);
    return PlanStep(program, generic, target, alignments, task_threads);
  }
  if (const auto lowered = step.body.Lower(program, step)) {
    Step as = step;
    as.body = *lowered;
    return PlanStep(program, as, target, alignments, task_threads);
  }
  if (auto scatter = PlanScatter(program, step, target)) {
    return on_threads(std::move(*scatter));
  }
  const auto nests = NestsOf(program, step, target, /*masked_tails=*/false);
  if (auto together = PlanBlockReduction(nests, target, alignments)) {
    return {std::move(*together)};
  }
  return on_threads(PlanNests(nests));
}

}  // namespace mxc
