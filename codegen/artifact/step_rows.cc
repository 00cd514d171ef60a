// SPDX-License-Identifier: Apache-2.0
#include "codegen/artifact/step_rows.h"

#include <cmath>

#include "ir/program/steps/branch.h"
#include "ir/program/steps/call.h"
#include "ir/program/steps/collective.h"
#include "ir/program/steps/copy.h"
#include "ir/program/steps/repeat.h"
#include "ir/program/steps/start.h"
#include "ir/program/steps/wait.h"

namespace mxc {

void StepRows::Add(const FlatProgram& flat, size_t at,
                   const StepCode& step_code) {
  const Step& step = flat.program.steps[at];
  mxc_step row = {};
  row.name = lists_.Text(step.name);
  row.tasks = step_code.tasks;
  if (row.tasks > 0) {
    row.kernel = static_cast<uint32_t>(step_code.kernel);
    row.kernel_name = lists_.Text(code_.kernels[step_code.kernel].name);
    if (step_code.even) row.flags |= MXC_KERNEL_EVEN;
    if (!step_code.computes.empty()) {
      row.attributes = lists_.Text(step_code.computes);
    }
  } else {
    row.kernel_name = lists_.Text("");
  }
  row.launch = step_code.launch;
  row.nanoseconds = static_cast<uint64_t>(std::ceil(step_code.nanoseconds));
  row.scratch_bytes = static_cast<uint64_t>(step_code.scratch_bytes);
  SetKind(flat, at, row);
  rows_.push_back(row);
}

void StepRows::SetKind(const FlatProgram& flat, size_t at, mxc_step& row) {
  const Step& step = flat.program.steps[at];
  if (const Repeat* repeat = step.body.As<Repeat>()) {
    SetRepeat(*repeat, step, row);
    row.body = static_cast<uint32_t>(flat.bodies[at]);
  } else if (step.body.As<Branch>() != nullptr) {
    row.kind = MXC_STEP_BRANCH;
    row.operands = lists_.Operands({step.inputs[0]});
    row.input_count = 1;
    row.body = static_cast<uint32_t>(flat.bodies[at]);
    row.other = static_cast<uint32_t>(flat.others[at]);
  } else if (step.body.As<Start>() != nullptr) {
    row.kind = MXC_STEP_START;
    row.operands = lists_.Operands({});
    row.body = static_cast<uint32_t>(flat.bodies[at]);
  } else {
    SetOperands(flat.program, step, row);
  }
  if (step.body.As<Copy>() != nullptr) row.kind = MXC_STEP_COPY;
  if (step.body.As<Wait>() != nullptr) {
    row.kind = MXC_STEP_WAIT;
    row.after = static_cast<uint32_t>(flat.afters[at]);
    row.bytes = 0;  // those of the start
  }
  if (const auto* collective = step.body.As<Collective>()) {
    row.kind = MXC_STEP_COLLECTIVE;
    row.kernel_name = lists_.Text(collective->operation);
    row.turns = collective->members;
  }
  if (const Call* call = step.body.As<Call>()) {
    SetCall(*call, row);
    row.place = PlaceInTables(flat.program, PlaceOf(flat.program, step));
  }
}

void StepRows::SetOperands(const Program& program, const Step& step,
                           mxc_step& row) {
  const std::vector<int> operands = step.operands();
  row.input_count = RowCount(step.inputs);
  row.operands = lists_.Operands(operands);
  row.flops = static_cast<uint64_t>(step.flops(program));
  for (const int operand : operands) {
    row.bytes += static_cast<uint64_t>(program.buffers[operand].bytes());
  }
}

void StepRows::SetRepeat(const Repeat& repeat, const Step& step,
                         mxc_step& row) {
  row.kind = MXC_STEP_REPEAT;
  row.turns = repeat.turns;
  std::vector<int> operands;
  if (repeat.count >= 0) {
    operands.push_back(step.inputs[repeat.count]);
    row.flags = MXC_REPEAT_COUNT;
    if (repeat.reversed) row.flags |= MXC_REPEAT_LAST;
  }
  if (repeat.condition >= 0) {
    operands.push_back(step.operands()[repeat.condition]);
    row.flags |= MXC_REPEAT_CONDITION | MXC_REPEAT_TEST_FIRST;
  }
  row.input_count = RowCount(operands);
  row.operands = lists_.Operands(operands);
}

void StepRows::SetCall(const Call& call, mxc_step& row) {
  row.kind = MXC_STEP_CALL;
  row.flags = MXC_CALL_WORKSPACE;
  row.kernel_name = lists_.Text(call.function);
  row.attributes = lists_.Text(call.attributes);
  const auto version = static_cast<uint32_t>(call.version);
  const auto [found, added] =
      import_rows_.try_emplace({call.function, version}, RowCount(imports_));
  if (added) {
    mxc_import import = {};
    import.name = lists_.Text(call.function);
    import.version = version;
    imports_.push_back(import);
  }
  row.kernel = found->second;
}

}  // namespace mxc
