// SPDX-License-Identifier: Apache-2.0
#include "codegen/artifact/entry_plan.h"

#include <algorithm>

#include "codegen/artifact/c_names.h"
#include "codegen/artifact/flat_program.h"
#include "ir/program/memory.h"
#include "ir/program/steps/branch.h"
#include "ir/program/steps/call.h"
#include "ir/program/steps/collective.h"
#include "ir/program/steps/repeat.h"

namespace mxc {
namespace {

// The calls of an entry, those of a body inside of their loop or branch.
class CallPlanner {
 public:
  CallPlanner(const FlatProgram& flat, const std::vector<StepCode>& steps,
              const CodeImage& code)
      : flat_(flat), steps_(steps), code_(code) {}

  std::vector<EntryFunction::Call> Plan(size_t first, size_t end) {
    std::vector<EntryFunction::Call> calls;
    for (size_t row = first; row < end; ++row) {
      const Step& step = flat_.program.steps[row];
      const size_t other = row + 1 + static_cast<size_t>(flat_.bodies[row]);
      const size_t behind = other + static_cast<size_t>(flat_.others[row]);
      if (const Repeat* repeat = step.body.As<Repeat>()) {
        EntryFunction::Call loop = LoopOf(*repeat, step);
        loops_.push_back(static_cast<int>(row));
        loop.body = Plan(row + 1, behind);
        loops_.pop_back();
        if (!loop.body.empty()) calls.push_back(std::move(loop));
        row = behind - 1;
      } else if (step.body.As<Branch>() != nullptr) {
        EntryFunction::Call branch;
        branch.name = step.name;
        branch.condition = ElementOf(step.inputs[0]);
        branch.body = Plan(row + 1, other);
        branch.other = Plan(other, behind);
        calls.push_back(std::move(branch));
        row = behind - 1;
      } else if (steps_[row].tasks > 0) {
        calls.push_back(CallOf(step, steps_[row]));
      }
    }
    return calls;
  }

 private:
  EntryFunction::Call CallOf(const Step& step, const StepCode& code) const {
    EntryFunction::Call call;
    call.name = step.name;
    call.kernel = code_.kernels[code.kernel].name;
    call.tasks = code.tasks;
    call.uses_scratch = code.scratch_bytes > 0;
    for (const int b : step.operands()) call.operands.push_back(OperandOf(b));
    return call;
  }

  EntryFunction::Call LoopOf(const Repeat& repeat, const Step& step) const {
    EntryFunction::Call loop;
    loop.name = step.name;
    loop.turns = repeat.turns;
    if (repeat.condition >= 0) {
      loop.condition = ElementOf(step.operands()[repeat.condition]);
    }
    if (repeat.count >= 0) loop.count = ElementOf(step.inputs[repeat.count]);
    loop.last = repeat.count >= 0 && repeat.reversed;
    return loop;
  }

  EntryFunction::Element ElementOf(int b) const {
    return {OperandOf(b), flat_.program.buffers[b].type.dtype};
  }

  EntryFunction::Operand OperandOf(int b) const {
    EntryFunction::Operand operand;
    operand.advances.resize(loops_.size());
    operand.buffer = flat_.program.Root(b);
    operand.bytes = flat_.program.BytesIntoRoot(b);
    while (const auto& window = flat_.windows[operand.buffer]) {
      const auto loop = std::ranges::find(loops_, window->loop);
      operand.advances[loop - loops_.begin()] += window->advance;
      operand.bytes += window->offset;
      operand.buffer = window->root;
    }
    return operand;
  }

  const FlatProgram& flat_;
  const std::vector<StepCode>& steps_;  // by row
  const CodeImage& code_;
  std::vector<int> loops_;  // rows of those around
};

}  // namespace

EntryFunction PlanEntry(const Program& program,
                        const std::vector<StepCode>& steps,
                        const CodeImage& code, const StateTable& states,
                        WeightsSection& weights) {
  EntryFunction entry;
  entry.has_states = !states.rows().empty();
  entry.symbol =
      Identifier(program.name) + "_" + Identifier(program.entry.Name());
  entry.inputs = program.BuffersOf(BufferKind::kInput);
  const std::vector<bool> read = ReadBuffers(program);
  std::erase_if(entry.inputs, [&](int input) { return !read[input]; });
  entry.outputs = program.BuffersOf(BufferKind::kOutput);
  int64_t scratch = 0;
  for (const StepCode& step : steps) {
    scratch = std::max(scratch, step.scratch_bytes);
  }
  entry.scratch_offset = AlignedBytes(program.arena_bytes());
  entry.arena_bytes = entry.scratch_offset + scratch;
  const FlatProgram flat = Flatten(program);
  for (const Buffer& buffer : flat.program.buffers) {
    entry.kinds.push_back(buffer.kind);
    int64_t offset = buffer.offset;
    if (buffer.kind == BufferKind::kConstant && buffer.alias_of < 0) {
      offset = static_cast<int64_t>(weights.Add(buffer));
    } else if (buffer.kind == BufferKind::kState) {
      offset = states.rows()[states.IndexOf(buffer)].offset;
    }
    entry.offsets.push_back(offset);
  }
  entry.calls = CallPlanner(flat, steps, code).Plan(0, steps.size());
  return entry;
}

Status RequireNoImports(std::span<const Program> entries,
                        std::string_view form) {
  for (const Program& entry : entries) {
    const FlatProgram flat = Flatten(entry);
    for (const Step& step : flat.program.steps) {
      if (const Call* call = step.body.As<Call>()) {
        return Error(step.loc,
                     "step '{}' calls {}, which {} cannot import; an artifact "
                     "(.mxa) can",
                     step.name, call->function, form);
      }
      if (step.body.As<Collective>() == nullptr) continue;
      return Error(step.loc,
                   "step '{}' is one that several devices do together, which "
                   "{} cannot; an artifact (.mxa) can",
                   step.name, form);
    }
  }
  return Done{};
}

}  // namespace mxc
