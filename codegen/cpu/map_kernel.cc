// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/map_kernel.h"

#include "codegen/cpu/contraction/weight_transform.h"
#include "codegen/cpu/task_ranges.h"
#include "codegen/cpu/transpose_kernel.h"
#include "codegen/loops/map_nests.h"
#include "codegen/loops/scatter_kernel.h"

namespace mxc {

KernelPlan PlanMap(const Program& program, const Step& step,
                   const Target& target) {
  if (auto special = PlanScatter(program, step, target, kTaskRanges))
    return *special;
  if (auto special = PlanWeightTransform(program, step, target)) {
    return *special;
  }
  if (auto special = PlanTranspose(program, step, target)) return *special;
  return PlanNests(NestsOf(program, step, target, kTaskRanges));
}

}  // namespace mxc
