// SPDX-License-Identifier: Apache-2.0
// The kernels that need nothing of a machine but how it deals work: of Maps,
// sums at positions and procedures, and of all that says that it is one. A back
// end has the kernels of its own beside them.
#pragma once

#include <memory>

#include "codegen/llvm/kernel_plan.h"
#include "codegen/loops/map_nests.h"
#include "codegen/schedule/dealing.h"
#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

// The step itself, or the Map or Procedure that it says it is (StepBody::Lower);
// a contraction without a chosen algorithm is written out as a sum. Kinds that a
// back end must have a kernel for remain: contractions, tile loops, launches.
Step Lowered(const Program& program, Step step, const Dealing& dealing);

// PlanGeneric has a kernel for such a step: it is a Map, a Procedure or a
// RowUpdate.
bool IsGeneric(const Step& lowered);

struct GenericPlan {
  FunctionPlan kernel;
  // The loops that it consists of, for other kernels over the same; null of sums
  // at positions, procedures and updates of rows.
  std::shared_ptr<const MapNests> nests;
};

// A step that Lowered makes one for which IsGeneric.
GenericPlan PlanGeneric(const Program& program, const Step& step,
                        const Target& target, const Dealing& dealing);

}  // namespace mxc
