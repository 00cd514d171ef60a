// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/calls.h"

#include "runtime/executor/describe.h"

namespace mxc::runtime {
Calls::Calls(const Model& model, const mxc_entry& entry,
             const Addresses& addresses) {
  const Tables& tables = model.tables();
  const auto steps = tables.Steps(entry);
  size_t operands = 0;
  for (const mxc_step& step : steps) {
    if (step.kind == MXC_STEP_CALL) operands += step.operands.count;
  }
  if (operands == 0) return;
  operands_.reserve(operands);  // calls point into it
  calls_.resize(steps.size());
  for (size_t row = 0; row < steps.size(); ++row) {
    const mxc_step& step = steps[row];
    if (step.kind != MXC_STEP_CALL) continue;
    const Function& function = model.functions()[step.kernel];
    Call& call = calls_[row];
    call.function = function.function;
    call.has_workspace = (step.flags & MXC_CALL_WORKSPACE) != 0;
    call.call = {.struct_size = sizeof call.call,
                 .operand_count = step.operands.count,
                 .input_count = step.input_count,
                 .operands = operands_.data() + operands_.size(),
                 .data = addresses.operands(row),
                 .attributes = tables.Text(step.attributes),
                 .workspace = nullptr,
                 .workspace_bytes = 0,
                 .user_data = function.user_data};
    for (const uint32_t operand : tables.Operands(step)) {
      operands_.push_back(Describe(tables, tables.Buffers(entry)[operand]));
    }
    if (!call.has_workspace) continue;
    --call.call.operand_count;
    call.call.workspace_bytes = operands_.back().bytes;
  }
}

int Calls::Run(size_t row) const {
  mxc_call call = calls_[row].call;
  if (calls_[row].has_workspace) call.workspace = call.data[call.operand_count];
  return calls_[row].function(&call);
}

}  // namespace mxc::runtime
