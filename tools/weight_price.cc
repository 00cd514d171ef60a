// SPDX-License-Identifier: Apache-2.0
#include "tools/weight_price.h"

#include <algorithm>
#include <vector>

#include "ir/program/interpreter.h"
#include "ir/program/steps/contraction.h"
#include "tools/difference.h"

namespace mxc {
namespace {

DType WeightTypeOf(const Step& step) {
  const ContractionStep* body = step.contraction();
  return body != nullptr ? body->contraction.types.weight : DType::kUnknown;
}

}  // namespace

std::optional<double> WeightPrice::Of(const Program& program, const Step& step,
                                      std::span<const Tensor> operands,
                                      const Tensor& result) const {
  if (program.buffers[step.outputs[0]].type != result.type()) {
    return std::nullopt;
  }
  const auto found = std::ranges::find_if(wide_.steps, [&](const Step& other) {
    return other.name == step.name && other.contraction() != nullptr;
  });
  if (found == wide_.steps.end() || step.contraction() == nullptr ||
      WeightTypeOf(*found) == WeightTypeOf(step)) {
    return std::nullopt;
  }
  // Scales stand behind the operands that both have.
  if (operands.size() < found->inputs.size()) return std::nullopt;
  std::vector<Tensor> wide(
      operands.begin(),
      operands.begin() + static_cast<ptrdiff_t>(found->inputs.size()));
  wide[1] = wide_.buffers[found->inputs[1]].constant;
  return Compare(result, InterpretStep(wide_, *found, wide)[0], {}).relative();
}

}  // namespace mxc
