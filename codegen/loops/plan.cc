// SPDX-License-Identifier: Apache-2.0
#include "codegen/loops/plan.h"

#include <utility>

#include "codegen/loops/generic_contraction.h"
#include "codegen/loops/procedure_kernel.h"
#include "codegen/loops/row_kernel.h"
#include "codegen/loops/scatter_kernel.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "ir/program/steps/procedure.h"
#include "ir/program/steps/row_update.h"
#include "ir/support/check.h"

namespace mxc {

Step Lowered(const Program& program, Step step, const Dealing& dealing) {
  if (const ContractionStep* contraction = step.contraction()) {
    if (!contraction->choice.algorithm.empty()) return step;
    step.body = MapOfContraction(program, step, dealing);
  }
  while (auto body = step.body.Lower(program, step)) {
    step.body = std::move(*body);
  }
  return step;
}

bool IsGeneric(const Step& lowered) {
  return lowered.map() != nullptr || lowered.body.As<Procedure>() != nullptr ||
         lowered.body.As<RowUpdate>() != nullptr;
}

GenericPlan PlanGeneric(const Program& program, const Step& step,
                        const Target& target, const Dealing& dealing) {
  const Step lowered = Lowered(program, step, dealing);
  if (lowered.body.As<Procedure>()) {
    return {PlanProcedure(program, lowered, target), nullptr};
  }
  if (lowered.body.As<RowUpdate>()) {
    return {PlanRows(program, lowered, target, dealing), nullptr};
  }
  MXC_CHECK(lowered.map() != nullptr, "no code for the kind of step '{}'",
            step.name);
  if (auto scatter = PlanScatter(program, lowered, target, dealing)) {
    return {std::move(*scatter), nullptr};
  }
  auto nests = NestsOf(program, lowered, target, dealing);
  return {PlanNests(nests), nests};
}

}  // namespace mxc
