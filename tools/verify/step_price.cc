// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/step_price.h"

#include <algorithm>
#include <vector>

#include "ir/program/interpreter.h"
#include "ir/program/steps/contraction.h"
#include "tools/arrays.h"
#include "tools/verify/difference.h"

namespace mxc {
namespace {

DType WeightTypeOf(const Step& step) {
  const ContractionStep* body = step.contraction();
  return body != nullptr ? body->contraction.types.weight : DType::kUnknown;
}

Tensor InType(DType dtype, const Tensor& tensor) {
  return tensor.type().dtype == dtype ? tensor : Converted(tensor, dtype);
}

}  // namespace

// The step of the same name that computes a value of the same shape from as many
// operands, or from those but for the scales behind them.
const Step* StepPrice::Counterpart(const Program& program,
                                   const Step& step) const {
  const auto found = std::ranges::find(wide_.steps, step.name, &Step::name);
  if (found == wide_.steps.end()) return nullptr;
  const bool products = step.contraction() != nullptr;
  const bool alike = products
                         ? found->contraction() != nullptr &&
                               found->inputs.size() <= step.inputs.size()
                         : step.map() != nullptr && found->map() != nullptr &&
                               found->inputs.size() == step.inputs.size();
  if (!alike || found->outputs.size() != step.outputs.size()) return nullptr;
  const TensorType& narrow = program.buffers[step.outputs[0]].type;
  const TensorType& wide = wide_.buffers[found->outputs[0]].type;
  if (narrow.shape != wide.shape) return nullptr;
  const bool same =
      narrow == wide && WeightTypeOf(step) == WeightTypeOf(*found);
  return same ? nullptr : &*found;
}

std::optional<double> StepPrice::Of(const Program& program, const Step& step,
                                    std::span<const Tensor> operands,
                                    const Tensor& result) const {
  const Step* wide = Counterpart(program, step);
  if (wide == nullptr ||
      result.shape() != program.buffers[step.outputs[0]].type.shape) {
    return std::nullopt;
  }
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < wide->inputs.size(); ++i) {
    const Buffer& buffer = wide_.buffers[wide->inputs[i]];
    if (!buffer.constant.empty()) {
      inputs.push_back(buffer.constant);
    } else if (buffer.type.shape == operands[i].shape()) {
      inputs.push_back(InType(buffer.type.dtype, operands[i]));
    } else {
      return std::nullopt;
    }
  }
  const Tensor expected = InterpretStep(wide_, *wide, inputs)[0];
  return Compare(InType(expected.type().dtype, result), expected, {})
      .relative();
}

}  // namespace mxc
