// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/map_kernel.h"

#include <vector>

#include "codegen/cpu/contraction/weight_transform.h"
#include "codegen/cpu/transpose_kernel.h"
#include "codegen/llvm/session.h"
#include "codegen/loops/map_nests.h"
#include "codegen/loops/scatter_kernel.h"

namespace mxc {

KernelPlan PlanMap(const Program& program, const Step& step,
                   const Target& target) {
  if (auto special = PlanScatter(program, step, target)) return *special;
  if (auto special = PlanWeightTransform(program, step, target)) {
    return *special;
  }
  if (auto special = PlanTranspose(program, step, target)) return *special;
  std::vector<DType> dtypes;
  for (const int operand : step.operands()) {
    dtypes.push_back(program.buffers[static_cast<size_t>(operand)].type.dtype);
  }
  return PlanNests(program, step, target, HasMaskedVectors(target, dtypes));
}

}  // namespace mxc
