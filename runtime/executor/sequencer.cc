// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/sequencer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/element.h"

namespace mxc::runtime {
Sequencer::Sequencer(const Model& model, const mxc_entry& entry,
                     const Device& device, const Regions& regions,
                     Scratch scratch, int threads)
    : tables_(model.tables()),
      buffers_(tables_.Buffers(entry)),
      steps_(tables_.Steps(entry)),
      device_(device),
      scratch_(scratch),
      list_(MakeInstructions(steps_)),
      addresses_(tables_, entry, regions),
      calls_(model, entry, addresses_),
      left_(steps_.size()) {
  for (uint32_t i = 0; i < steps_.size(); ++i) {
    const mxc_step& step = steps_[i];
    Launch launch = {.operands = {addresses_.operands(i), step.operands.count},
                     .tasks = step.tasks};
    if (step.tasks > 0) launch.kernel = model.code().kernel(step.kernel);
    launch.calls = step.kind == MXC_STEP_CALL;
    const Phase phase = Deal(step, i, threads);
    if (phase.participants > 1 && phases_.size() < kMostPhases) {
      launch.phase = static_cast<uint32_t>(phases_.size());
      phases_.push_back(phase);
    }
    launches_.push_back(launch);
  }
}

uint32_t Sequencer::Begin(int thread) {
  addresses_.Rewind();
  StartClock();
  error_ = 0;
  position_ = 0;
  end_ = list_.begins.back();
  return Walk(thread, nullptr);
}

void Sequencer::RunChunk(uint32_t phase, uint32_t chunk, int thread,
                         bool is_first) {
  const Phase& dealt = phases_[phase];
  const Launch& launch = launches_[dealt.step];
  const auto tasks = static_cast<uint64_t>(launch.tasks);
  const auto begin = static_cast<int64_t>(tasks * chunk / dealt.chunks);
  const auto end = static_cast<int64_t>(tasks * (chunk + 1) / dealt.chunks);
  void* scratch = is_first ? ClearedScratch(thread) : ScratchOf(thread);
  device_.Launch(launch.kernel, launch.operands, begin, end, scratch);
}

uint32_t Sequencer::Finish(uint32_t phase, int thread) {
  Measure(phases_[phase].step);
  return Walk(thread, nullptr);
}

void Sequencer::RunAlone(size_t first, size_t end, const Listener& after) {
  StartClock();
  error_ = 0;
  position_ = list_.begins[first];
  end_ = list_.begins[end];
  Walk(/*thread=*/0, &after);
}

// `alone`: no step is dealt, and this listens.
uint32_t Sequencer::Walk(int thread, const Listener* alone) {
  using Action = Instruction::Action;
  while (position_ != end_) {
    const Instruction& instruction = list_.instructions[position_++];
    const uint32_t step = instruction.step;
    bool jumps = false;
    switch (instruction.action) {
      case Action::kStep:
        if (launches_[step].phase != kNoPhase && alone == nullptr) {
          return launches_[step].phase;
        }
        if (!RunStep(step, thread)) return kNoPhase;
        if (alone != nullptr && *alone && !(*alone)(step)) return kNoPhase;
        break;
      case Action::kRepeat:
        jumps = !BeginRepeat(step);
        break;
      case Action::kTurn:
        jumps = BeginTurn(step);
        break;
      case Action::kBranch:
        jumps = !IsTrue(step, 0);
        break;
      case Action::kJump:
        jumps = true;
        break;
    }
    if (jumps) position_ = instruction.target;
  }
  return kNoPhase;
}

// False: it has failed.
bool Sequencer::RunStep(uint32_t step, int thread) {
  const Launch& launch = launches_[step];
  if (launch.tasks > 0) {
    device_.Launch(launch.kernel, launch.operands, 0, launch.tasks,
                   ClearedScratch(thread));
  } else if (launch.calls) {
    failed_ = step;
    error_ = calls_.Run(step, device_);
  } else {
    return true;  // a view
  }
  Measure(step);
  return error_ == 0;
}

Status Sequencer::Outcome() const {
  if (error_ == 0) return {};
  const mxc_step& step = steps_[failed_];
  const mxc_import& import = tables_.imports()[step.kernel];
  return Fail(StatusCode::kFailed,
              "step '%s': version %u of function '%s' has failed with %d",
              tables_.Text(step.name), import.version,
              tables_.Text(import.name), error_);
}

// Whether there is a first turn.
bool Sequencer::BeginRepeat(uint32_t step) {
  addresses_.Rewind(step);
  left_[step] = CountOf(step) - 1;
  if (left_[step] < 0) return false;
  return (steps_[step].flags & MXC_REPEAT_TEST_FIRST) == 0 || GoesOn(step);
}

// Whether there is one more.
bool Sequencer::BeginTurn(uint32_t step) {
  const bool more = left_[step] > 0;
  addresses_.Advance(step, more);
  --left_[step];
  return more && GoesOn(step);
}

int64_t Sequencer::CountOf(uint32_t repeat) const {
  const mxc_step& step = steps_[repeat];
  if ((step.flags & MXC_REPEAT_COUNT) == 0) return step.turns;
  const void* operand = launches_[repeat].operands[0];
  int64_t count = 0;
  if (ElementSize(buffers_[tables_.Operands(step)[0]].dtype) == 4) {
    int32_t narrow;
    device_.Read(&narrow, operand, sizeof narrow);
    count = narrow;
  } else {
    device_.Read(&count, operand, sizeof count);
  }
  return std::clamp<int64_t>(count, 0, step.turns);
}

bool Sequencer::GoesOn(uint32_t repeat) const {
  const uint8_t flags = steps_[repeat].flags;
  if ((flags & MXC_REPEAT_CONDITION) == 0) return true;
  return IsTrue(repeat, (flags & MXC_REPEAT_COUNT) != 0 ? 1 : 0);
}

bool Sequencer::IsTrue(uint32_t step, size_t k) const {
  const uint8_t dtype = buffers_[tables_.Operands(steps_[step])[k]].dtype;
  const uint64_t size = ElementSize(dtype);
  uint64_t bits = 0;
  device_.Read(&bits, launches_[step].operands[k], size);
  // -0.0 is a zero, too.
  if (IsFloat(static_cast<ElementType>(dtype)))
    bits &= ~(uint64_t{1} << (8 * size - 1));
  return bits != 0;
}

void Sequencer::StartClock() {
  if (times_.empty()) return;
  std::fill(times_.begin(), times_.end(), 0);
  last_mark_ = Nanoseconds();
}

void Sequencer::Measure(uint32_t step) {
  if (times_.empty()) return;
  const int64_t now = Nanoseconds();
  times_[step] += now - std::exchange(last_mark_, now);
}

void* Sequencer::ScratchOf(int thread) const {
  return scratch_.memory + scratch_.stride * static_cast<uint64_t>(thread);
}

void* Sequencer::ClearedScratch(int thread) const {
  void* scratch = ScratchOf(thread);
  std::memset(scratch, 0, MXC_SCRATCH_NOTE);
  return scratch;
}

}  // namespace mxc::runtime
