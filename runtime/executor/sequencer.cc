// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/sequencer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/element.h"
#include "runtime/base/trace.h"
#include "runtime/library/registry.h"

namespace mxc::runtime {
namespace {

// More things than this are not worth a recording.
constexpr uint64_t kMostRecorded = 1 << 16;

}  // namespace

Sequencer::Sequencer(const Model& model, const mxc_entry& entry,
                     const Regions& regions, Scratch scratch, int threads)
    : tables_(model.tables()),
      buffers_(tables_.Buffers(entry)),
      steps_(tables_.Steps(entry)),
      scratch_(scratch),
      list_(MakeInstructions(steps_)),
      addresses_(tables_, entry, regions),
      calls_(model, entry, addresses_),
      left_(steps_.size()) {
  ListLaunches(model);
  for (uint32_t i = 0; i < steps_.size(); ++i) {
    const Phase phase = Deal(steps_[i], i, threads);
    if (phase.participants > 1 && phases_.size() < kMostPhases) {
      launches_[i].phase = static_cast<uint32_t>(phases_.size());
      phases_.push_back(phase);
    }
  }
}

Sequencer::Sequencer(const Model& model, const mxc_entry& entry,
                     const Regions& regions, const DeviceRun& run)
    : tables_(model.tables()),
      buffers_(tables_.Buffers(entry)),
      steps_(tables_.Steps(entry)),
      device_(run),
      list_(MakeInstructions(steps_)),
      addresses_(tables_, entry, regions),
      calls_(model, entry, addresses_),
      left_(steps_.size()) {
  ListLaunches(model);
  records_ = IsRecordable();
}

void Sequencer::ListLaunches(const Model& model) {
  uint32_t starts = 0;
  for (uint32_t i = 0; i < steps_.size(); ++i) {
    const mxc_step& step = steps_[i];
    Launch launch = {.operands = {addresses_.operands(i), step.operands.count},
                     .tasks = step.tasks};
    if (step.tasks > 0 && device_.module == nullptr) {
      launch.kernel = model.code().kernels()[step.kernel];
    } else if (step.tasks > 0) {
      launch.device_kernel =
          device_.module->Find(tables_.Text(step.kernel_name));
      launch.library = PlanLibrary(step);
    }
    if (step.kind == MXC_STEP_COLLECTIVE) {
      const std::string_view name = tables_.Text(step.kernel_name);
      launch.collective = FindCollectiveFunction(name);
      launch.one_way = FindCollective(name)->gives == CollectiveGives::kOneWay;
    }
    if (step.kind == MXC_STEP_START) launch.beside = starts++;
    if (step.kind == MXC_STEP_WAIT) {
      launch.beside = launches_[step.after].beside;
    }
    launches_.push_back(launch);
  }
}

// Null where the kernel is to be launched.
LibraryStep* Sequencer::PlanLibrary(const mxc_step& step) {
  if (step.attributes.count == 0) return nullptr;
  auto plan = device_.device->PlanLibrary(tables_.Text(step.attributes),
                                          step.scratch_bytes);
  if (plan == nullptr) return nullptr;
  return libraries_.emplace_back(std::move(plan)).get();
}

uint32_t Sequencer::Begin(int thread) {
  addresses_.Rewind();
  if (clock_) clock_->Start();
  Forget();
  if (OnDevice()) beside_ = !clock_;
  if (!records_) return Walk(0, list_.begins.back(), thread, nullptr);
  Replay();
  return kNoPhase;
}

void Sequencer::Replay() {
  const Recording* kept = recordings_.Find(addresses_.callers());
  if (kept == nullptr) {
    device_.stream->BeginRecord();
    Walk(0, list_.begins.back(), /*thread=*/0, nullptr);
    auto recording = device_.stream->EndRecord();
    if (!recording.ok()) {
      failure_ = recording.status();
      return;
    }
    kept = &recordings_.Keep(addresses_.callers(), std::move(*recording));
  }
  device_.stream->Replay(*kept);
}

void Sequencer::RunChunk(uint32_t phase, uint32_t chunk, int thread,
                         bool is_first) {
  const Phase& dealt = phases_[phase];
  const Launch& launch = launches_[dealt.step];
  const auto tasks = static_cast<uint64_t>(launch.tasks);
  const auto begin = static_cast<int64_t>(tasks * chunk / dealt.chunks);
  const auto end = static_cast<int64_t>(tasks * (chunk + 1) / dealt.chunks);
  void* scratch = is_first ? ClearedScratch(thread) : ScratchOf(thread);
  const TraceSpan span(tables_.Text(steps_[dealt.step].name), "step");
  launch.kernel(launch.operands.data(), begin, end, scratch);
}

uint32_t Sequencer::Finish(uint32_t phase, int thread) {
  const uint32_t step = phases_[phase].step;
  if (clock_) Took(step);
  return Walk(list_.begins[step] + 1, list_.begins.back(), thread, nullptr);
}

void Sequencer::RunAlone(size_t first, size_t end, const Listener& after) {
  if (clock_) clock_->Start();
  Forget();
  beside_ = false;
  Walk(list_.begins[first], list_.begins[end], /*thread=*/0, &after);
}

void Sequencer::RunElements(uint64_t first, uint64_t count, uint64_t all) {
  share_ = {first, count, all};
  RunAlone(0, steps_.size(), {});
  share_ = {};
}

// The failure of the walk before.
void Sequencer::Forget() {
  if (!HasFailed()) return;
  error_ = 0;
  failure_ = {};
}

// `alone`: no step is dealt, and this listens.
uint32_t Sequencer::Walk(uint32_t position, uint32_t end, int thread,
                         const Listener* alone) {
  using Action = Instruction::Action;
  while (position != end) {
    const Instruction& instruction = list_.instructions[position++];
    const uint32_t step = instruction.step;
    bool jumps = false;
    switch (instruction.action) {
      case Action::kStep:
        if (before_ && alone == nullptr) before_(step);
        if (launches_[step].phase != kNoPhase && alone == nullptr) {
          return launches_[step].phase;
        }
        if (!RunStep(step, thread)) return kNoPhase;
        if (alone == nullptr) break;
        if (!Settle() || (*alone && !(*alone)(step))) return kNoPhase;
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
      case Action::kStart:
        if (beside_) device_.stream->BeginBeside(launches_[step].beside);
        break;
      case Action::kEnd:
        if (beside_) device_.stream->EndBeside();
        break;
    }
    if (jumps) position = instruction.target;
  }
  return kNoPhase;
}

// False: the walk ends. A device goes on: what follows may stand beside.
bool Sequencer::RunStep(uint32_t step, int thread) {
  switch (steps_[step].kind) {
    case MXC_STEP_CALL:
      RunCall(step);
      break;
    case MXC_STEP_COPY:
      RunCopy(step);
      break;
    case MXC_STEP_COLLECTIVE:
      RunCollective(step);
      break;
    case MXC_STEP_WAIT:
      if (beside_) device_.stream->WaitFor(launches_[step].beside);
      break;
    default:
      if (launches_[step].tasks == 0) return true;  // a view
      RunKernel(step, thread);
  }
  if (clock_) Took(step);
  return OnDevice() || error_ == 0;
}

void Sequencer::RunKernel(uint32_t step, int thread) {
  const Launch& launch = launches_[step];
  if (!OnDevice()) {
    const TraceSpan span(tables_.Text(steps_[step].name), "step");
    int64_t begin = 0, end = launch.tasks;
    if (share_.all > 1 && (steps_[step].flags & MXC_KERNEL_EVEN) != 0) {
      const auto task_of = [&](uint64_t element) {
        return static_cast<int64_t>(static_cast<uint64_t>(launch.tasks) *
                                    element / share_.all);
      };
      begin = task_of(share_.first);
      end = task_of(share_.first + share_.count);
    }
    launch.kernel(launch.operands.data(), begin, end, ClearedScratch(thread));
    return;
  }
  device_.stream->Launch({.kernel = launch.device_kernel,
                          .operands = launch.operands,
                          .geometry = steps_[step].launch,
                          .scratch_bytes = steps_[step].scratch_bytes,
                          .library = launch.library});
}

void Sequencer::RunCall(uint32_t step) {
  const auto call = [this, step] {
    if (error_ != 0) return;
    failed_ = step;
    error_ = calls_.Run(step);
  };
  if (!OnDevice()) return call();
  device_.stream->Call(call);
  // Its operands are read when it runs, and windows move on.
  if (addresses_.have_windows()) Settle();
}

void Sequencer::RunCollective(uint32_t step) {
  const CollectiveFunction function = launches_[step].collective;
  const bool one_way = launches_[step].one_way;
  const uint32_t count = one_way ? 1 : steps_[step].input_count;
  if (OnDevice()) {
    std::vector<CollectiveTensor> tensors;
    for (uint32_t i = 0; i < count; ++i) tensors.push_back(Shared(step, i));
    return device_.stream->Collective(function, tensors);
  }
  if (HasFailed()) return;
  LoneMember alone([](void* to, const void* from, uint64_t bytes) {
    if (bytes > 0) std::memmove(to, from, bytes);
  });
  Member& member = member_ != nullptr ? static_cast<Member&>(*member_) : alone;
  for (uint32_t i = 0; i < count; ++i) function(member, Shared(step, i));
  if (member_ != nullptr) failure_ = member_->status();
}

CollectiveTensor Sequencer::Shared(uint32_t step, uint32_t input) const {
  const auto operands = tables_.Operands(steps_[step]);
  const uint32_t output = steps_[step].input_count + input;
  const mxc_buffer& from = buffers_[operands[input]];
  return {.from = launches_[step].operands[input],
          .to = launches_[step].operands[output],
          .from_bytes = from.bytes,
          .to_bytes = buffers_[operands[output]].bytes,
          .dtype = from.dtype,
          .other = static_cast<size_t>(steps_[step].turns)};
}

void Sequencer::RunCopy(uint32_t step) {
  const auto operands = tables_.Operands(steps_[step]);
  const mxc_buffer &from = buffers_[operands[0]], &to = buffers_[operands[1]];
  void* const* data = launches_[step].operands.data();
  if (!OnDevice()) {
    if (to.bytes > 0) std::memmove(data[1], data[0], to.bytes);
    return;
  }
  device_.stream->Copy(static_cast<mxc_place>(to.place), data[1],
                       static_cast<mxc_place>(from.place), data[0], to.bytes);
}

// All that was put into the stream is done. False: something has failed.
bool Sequencer::Settle() {
  if (!OnDevice()) return !HasFailed();
  Status status = device_.stream->Finish();
  if (failure_.ok()) failure_ = std::move(status);
  if (!HasFailed() && clock_) clock_->Settled();
  return !HasFailed();
}

// A loop of many turns does not fill the stream with marks.
void Sequencer::Took(uint32_t step) {
  constexpr uint32_t kMostMarks = 4096;
  clock_->Took(step);
  if (clock_->marks() == kMostMarks) Settle();
}

// Runs with branches and counts differ; calls read what windows show only then.
bool Sequencer::IsRecordable() const {
  uint64_t things = 0;
  for (const mxc_step& step : steps_) {
    if (step.kind == MXC_STEP_BRANCH) return false;
    if (step.kind == MXC_STEP_REPEAT && step.flags != 0) return false;
    if (step.kind == MXC_STEP_CALL && addresses_.have_windows()) return false;
    things += std::min(tables_.TimesRun(step), kMostRecorded);
    if (things > kMostRecorded) return false;
  }
  return true;
}

Status Sequencer::Outcome() const {
  if (error_ == 0) return failure_;
  const mxc_step& step = steps_[failed_];
  const mxc_import& import = tables_.imports()[step.kernel];
  const char* meaning =
      MeaningOfFailure(tables_.Text(import.name), import.version);
  // Negative numbers are arguments that LAPACK refuses.
  if (*meaning != '\0' && error_ > 0) {
    return Fail(StatusCode::kFailed, "step '%s': %s", tables_.Text(step.name),
                meaning);
  }
  return Fail(StatusCode::kFailed,
              "step '%s': version %u of function '%s' has failed with %d",
              tables_.Text(step.name), import.version,
              tables_.Text(import.name), error_.load());
}

// Returns whether there is a first turn.
bool Sequencer::BeginRepeat(uint32_t step) {
  const int64_t count = CountOf(step);
  const bool late = (steps_[step].flags & MXC_REPEAT_LAST) != 0 && count > 0;
  addresses_.Rewind(step, late ? steps_[step].turns - count : 0);
  left_[step] = count - 1;
  if (left_[step] < 0) return false;
  return (steps_[step].flags & MXC_REPEAT_TEST_FIRST) == 0 || GoesOn(step);
}

// Returns whether there is one more.
bool Sequencer::BeginTurn(uint32_t step) {
  const bool more = left_[step] > 0;
  addresses_.Advance(step, more);
  --left_[step];
  return more && GoesOn(step);
}

int64_t Sequencer::CountOf(uint32_t repeat) {
  const mxc_step& step = steps_[repeat];
  if ((step.flags & MXC_REPEAT_COUNT) == 0) return step.turns;
  const void* operand = launches_[repeat].operands[0];
  int64_t count = 0;
  if (ElementSize(buffers_[tables_.Operands(step)[0]].dtype) == 4) {
    int32_t narrow;
    ReadElement(&narrow, operand, sizeof narrow);
    count = narrow;
  } else {
    ReadElement(&count, operand, sizeof count);
  }
  return std::clamp<int64_t>(count, 0, step.turns);
}

bool Sequencer::GoesOn(uint32_t repeat) {
  const uint8_t flags = steps_[repeat].flags;
  if ((flags & MXC_REPEAT_CONDITION) == 0) return true;
  return IsTrue(repeat, (flags & MXC_REPEAT_COUNT) != 0 ? 1 : 0);
}

bool Sequencer::IsTrue(uint32_t step, size_t k) {
  const uint8_t dtype = buffers_[tables_.Operands(steps_[step])[k]].dtype;
  const uint64_t size = ElementSize(dtype);
  uint64_t bits = 0;
  ReadElement(&bits, launches_[step].operands[k], size);
  // -0.0 is a zero, too.
  if (IsFloat(static_cast<ElementType>(dtype)))
    bits &= ~(uint64_t{1} << (8 * size - 1));
  return bits != 0;
}

// Zeros where the device has failed.
void Sequencer::ReadElement(void* value, const void* operand, uint64_t size) {
  std::memset(value, 0, size);
  if (!OnDevice()) {
    std::memcpy(value, operand, size);
  } else if (Settle()) {
    device_.device->Read(value, operand, size);
  }
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
