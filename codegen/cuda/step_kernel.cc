// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/step_kernel.h"

#include <algorithm>

#include "codegen/cuda/block_reduction.h"
#include "codegen/cuda/product_kernel.h"
#include "codegen/cuda/task_per_thread.h"
#include "codegen/cuda/transpose_kernel.h"
#include "codegen/loops/map_nests.h"
#include "codegen/loops/plan.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"

namespace mxc {

StepKernel PlanStep(const Program& program, const Step& step,
                    const Target& target, const std::string& alignments,
                    int task_threads) {
  const Step lowered = Lowered(program, step, kTaskPerThread);
  if (lowered.contraction()) {
    return {PlanProduct(program, lowered, alignments)};
  }
  GenericPlan plan = PlanGeneric(program, lowered, target, kTaskPerThread);
  if (plan.nests != nullptr) {
    if (auto together = PlanBlockReduction(plan.nests, target, alignments)) {
      return {std::move(*together)};
    }
    if (auto tiles = PlanTransposedReads(plan.nests, alignments)) {
      return {std::move(*tiles)};
    }
  }
  return {OnThreads(std::move(plan.kernel), alignments, task_threads), true};
}

double SharedSumSeconds(const Program& program, const Step& step,
                        const Target& target) {
  const Step lowered = Lowered(program, step, kTaskPerThread);
  const Map* map = lowered.map();
  const bool reduces = map != nullptr && !step.view &&
                       std::ranges::any_of(map->stores, [](const Store& store) {
                         return HasReduction(store.value);
                       });
  if (!reduces) return 0;
  const std::string alignments(step.operands().size(), 'v');
  const auto plan = PlanBlockReduction(
      NestsOf(program, lowered, target, kTaskPerThread), target, alignments);
  return plan ? 1e-9 * plan->nanoseconds : 0;
}

}  // namespace mxc
