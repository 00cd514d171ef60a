// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/step_kernel.h"

#include <algorithm>

#include "codegen/cuda/block_reduction.h"
#include "codegen/cuda/product_kernel.h"
#include "codegen/cuda/product_shape.h"
#include "codegen/cuda/task_per_thread.h"
#include "codegen/cuda/transpose_kernel.h"
#include "codegen/loops/generic_contraction.h"
#include "codegen/loops/map_nests.h"
#include "codegen/loops/procedure_kernel.h"
#include "codegen/loops/scatter_kernel.h"

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
      const auto channels_last = [&](int b) {
        return !program.buffers[b].layout.row_major();
      };
      const ProductLayouts layouts = {channels_last(step.inputs[0]),
                                      channels_last(step.inputs[1]),
                                      channels_last(step.outputs[0])};
      plan.nanoseconds =
          1e9 * ProductSeconds(contraction->contraction, contraction->choice,
                               target.machine, layouts);
      return {std::move(plan)};
    }
    Step generic = step;
    generic.body = MapOfContraction(program, step, kTaskPerThread);
    return PlanStep(program, generic, target, alignments, task_threads);
  }
  if (const auto lowered = step.body.Lower(program, step)) {
    Step as = step;
    as.body = *lowered;
    return PlanStep(program, as, target, alignments, task_threads);
  }
  if (auto scatter = PlanScatter(program, step, target, kTaskPerThread)) {
    return on_threads(std::move(*scatter));
  }
  const auto nests = NestsOf(program, step, target, kTaskPerThread);
  if (auto together = PlanBlockReduction(nests, target, alignments)) {
    return {std::move(*together)};
  }
  if (auto tiles = PlanTransposedReads(nests, alignments)) {
    return {std::move(*tiles)};
  }
  return on_threads(PlanNests(nests));
}

double SharedSumSeconds(const Program& program, const Step& step,
                        const Target& target) {
  const Map* map = step.map();
  const bool reduces = map != nullptr && !step.view &&
                       std::ranges::any_of(map->stores, [](const Store& store) {
                         return HasReduction(store.value);
                       });
  if (!reduces) return 0;
  const std::string alignments(step.operands().size(), 'v');
  const auto plan = PlanBlockReduction(
      NestsOf(program, step, target, kTaskPerThread), target, alignments);
  return plan ? 1e-9 * plan->nanoseconds : 0;
}

}  // namespace mxc
