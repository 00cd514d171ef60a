// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/executor.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "runtime/base/bytes.h"
#include "runtime/base/clock.h"
#include "runtime/base/float_mode.h"

namespace mxc::runtime {
namespace {

Status Busy() {
  return Fail(StatusCode::kBusy,
              "this executor, or one that shares its memory, is running "
              "already");
}

}  // namespace

int AvailableThreads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::clamp(CPU_COUNT(&set), 1, kMaxThreads);
}

Executor::Executor(std::shared_ptr<const Model> model, size_t entry)
    : model_(std::move(model)),
      entry_(&model_->tables().entries()[entry]),
      buffers_(model_->tables().Buffers(*entry_)),
      steps_(model_->tables().Steps(*entry_)),
      inputs_(model_->tables().Inputs(*entry_)),
      outputs_(model_->tables().Outputs(*entry_)) {}

StatusOr<std::unique_ptr<Executor>> Executor::Bind(
    std::shared_ptr<const Model> model, size_t entry, const Options& options) {
  if (options.threads < 1 || options.threads > kMaxThreads) {
    return Fail(StatusCode::kInvalidArgument,
                "%d threads; 1 to %d are possible", options.threads,
                kMaxThreads);
  }
  if (options.share != nullptr && options.share->model_ != model) {
    return Fail(StatusCode::kInvalidArgument,
                "executors of different models share no memory");
  }
  std::unique_ptr<Executor> executor(new Executor(std::move(model), entry));
  executor->threads_ = options.threads;
  MXC_RT_RETURN_IF_ERROR(executor->Allocate(options.share));
  executor->PlaceBuffers();
  executor->PrepareSteps();
  executor->MarkSharedOutputs();
  MXC_RT_RETURN_IF_ERROR(executor->StartThreads(options));
  return executor;
}

// One piece of memory: states and arena, then the caller's buffers, then
// scratch. Where states and arena are shared, a second piece holds the rest.
Status Executor::Allocate(const Executor* share) {
  Sizes sizes;
  std::vector<uint64_t> begins(buffers_.size());
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    if (CallersOwn(i)) begins[i] = sizes.Add(buffers_[i].bytes, MXC_PAGE);
  }
  Sizes stride;
  // Threads share no page; there is room for a note even if nobody needs one.
  stride.Add(std::max<uint64_t>(entry_->scratch_bytes, MXC_SCRATCH_NOTE),
             MXC_PAGE);
  scratch_stride_ = stride.total();
  const uint64_t scratch = sizes.total();
  for (int t = 0; t < threads_; ++t) sizes.Add(scratch_stride_, MXC_PAGE);

  StatusOr<std::byte*> memory = Reserve(share, sizes.total());
  if (!memory.ok()) return memory.status();
  scratch_ = *memory + scratch;
  own_.resize(buffers_.size());
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    if (CallersOwn(i)) own_[i] = *memory + begins[i];
  }
  return {};
}

// Sets shared_; returns where `bytes` of this executor alone begin.
StatusOr<std::byte*> Executor::Reserve(const Executor* share, uint64_t bytes) {
  if (share == nullptr) {
    auto storage = Storage::Allocate(model_, bytes);
    if (!storage.ok()) return storage.status();
    shared_ = std::move(*storage);
    return shared_->extra();
  }
  StatusOr<Region> memory =
      Region::Allocate(bytes, "inputs, outputs and scratch");
  if (!memory.ok()) return memory.status();
  memory_ = std::move(*memory);
  shared_ = share->shared_;
  return memory_.data();
}

void Executor::PlaceBuffers() {
  // Weights are mapped read-only; the check of the tables saw that no step
  // writes to them.
  auto* weights = const_cast<std::byte*>(model_->weights().data());
  auto* prepared = const_cast<std::byte*>(model_->prepared().data());
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    const mxc_buffer& buffer = buffers_[i];
    if (buffer.kind == MXC_BUFFER_WEIGHT) own_[i] = weights + buffer.offset;
    if (buffer.kind == MXC_BUFFER_PREPARED) own_[i] = prepared + buffer.offset;
    if (buffer.kind == MXC_BUFFER_INTERNAL) {
      own_[i] = shared_->arena() + buffer.offset;
    }
    if (buffer.kind == MXC_BUFFER_STATE) own_[i] = State(buffer.offset).data();
  }
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    const mxc_buffer& buffer = buffers_[i];
    if (buffer.kind == MXC_BUFFER_ALIAS) {
      own_[i] = own_[buffer.root] + buffer.offset;
    }
  }
  storage_ = own_;
}

void Executor::PrepareSteps() {
  size_t count = 0;
  for (const mxc_step& step : steps_) count += step.operands.count;
  operands_.reserve(count);  // launches point into it
  for (const mxc_step& step : steps_) {
    launches_.push_back(
        {.kernel = step.tasks > 0 ? model_->kernel(step.kernel) : nullptr,
         .operands = operands_.data() + operands_.size(),
         .tasks = step.tasks});
    for (const uint32_t index : model_->tables().Operands(step)) {
      const mxc_buffer& buffer = buffers_[index];
      const auto operand = static_cast<uint32_t>(operands_.size());
      if (CallersOwn(buffer.root)) {
        slots_.push_back(
            {buffer.root, operand,
             static_cast<uint64_t>(own_[index] - own_[buffer.root])});
      }
      operands_.push_back(own_[index]);
    }
  }
  std::stable_sort(
      slots_.begin(), slots_.end(),
      [](const Slot& a, const Slot& b) { return a.root < b.root; });
}

void Executor::MarkSharedOutputs() {
  std::vector<bool> taken(buffers_.size());
  for (const uint32_t index : outputs_) {
    const bool own = buffers_[index].kind == MXC_BUFFER_OUTPUT && !taken[index];
    copies_.push_back({.needed = !own});
    taken[index] = true;
  }
}

Status Executor::StartThreads(const Options& options) {
  if (options.profile) step_times_.resize(steps_.size());
  schedule_ = MakeSchedule(steps_, threads_);
  uint32_t useful = 1;
  for (const Phase& phase : schedule_.phases) {
    useful = std::max(useful, phase.participants);
  }
  if (useful == 1) return {};
  StatusOr<std::unique_ptr<Team>> team =
      Team::Start(schedule_.phases, *this, static_cast<int>(useful));
  if (!team.ok()) return team.status();
  team_ = std::move(*team);
  return {};
}

Status Executor::Run() {
  if (!shared_->Begin()) return Busy();
  {
    const FloatMode mode;
    if (!step_times_.empty()) last_mark_ = Nanoseconds();
    RunSteps(0, schedule_.head_end, /*thread=*/0);
    if (team_ != nullptr) team_->Run();
    CopyOutputs();
  }
  shared_->End();
  return {};
}

Status Executor::RunStepwise(const std::function<bool(size_t step)>& after) {
  if (!shared_->Begin()) return Busy();
  {
    const FloatMode mode;
    const auto count = static_cast<uint32_t>(launches_.size());
    bool more = true;
    for (uint32_t i = 0; i < count && more; ++i) {
      RunSteps(i, i + 1, /*thread=*/0);
      more = after(i);
    }
    if (more) CopyOutputs();
  }
  shared_->End();
  return {};
}

void Executor::RunChunk(const Phase& phase, uint32_t chunk, int thread,
                        bool is_first) {
  const Launch& launch = launches_[phase.step];
  const auto tasks = static_cast<uint64_t>(launch.tasks);
  const auto begin = static_cast<int64_t>(tasks * chunk / phase.chunks);
  const auto end = static_cast<int64_t>(tasks * (chunk + 1) / phase.chunks);
  if (is_first) ClearNote(thread);
  launch.kernel(launch.operands, begin, end, Scratch(thread));
}

void Executor::FinishPhase(const Phase& phase, int thread) {
  if (!step_times_.empty()) Measure(phase.step);
  RunSteps(phase.tail_first, phase.tail_end, thread);
}

void Executor::RunSteps(uint32_t first, uint32_t end, int thread) {
  for (uint32_t i = first; i < end; ++i) {
    const Launch& launch = launches_[i];
    if (launch.tasks == 0) continue;
    ClearNote(thread);
    launch.kernel(launch.operands, 0, launch.tasks, Scratch(thread));
    if (!step_times_.empty()) Measure(i);
  }
}

// Only the thread between two phases is here.
void Executor::Measure(uint32_t step) {
  const int64_t now = Nanoseconds();
  step_times_[step] = now - std::exchange(last_mark_, now);
}

void Executor::CopyOutputs() {
  for (size_t k = 0; k < copies_.size(); ++k) {
    if (!copies_[k].needed || copies_[k].target == nullptr) continue;
    std::memmove(copies_[k].target, OutputStorage(k),
                 buffers_[outputs_[k]].bytes);
  }
}

void Executor::BindInput(size_t k, const void* memory) {
  // Kernels do not write to inputs: the check of the tables saw to it.
  Move(inputs_[k], static_cast<std::byte*>(const_cast<void*>(memory)));
}

void Executor::BindOutput(size_t k, void* memory) {
  if (copies_[k].needed) {
    copies_[k].target = memory;
  } else {
    Move(outputs_[k], static_cast<std::byte*>(memory));
  }
}

void Executor::Move(uint32_t root, std::byte* memory) {
  if (memory == nullptr) memory = own_[root];
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].root == root) storage_[i] = memory + buffers_[i].offset;
  }
  const auto [begin, end] = std::equal_range(
      slots_.begin(), slots_.end(), Slot{root, 0, 0},
      [](const Slot& a, const Slot& b) { return a.root < b.root; });
  for (auto slot = begin; slot != end; ++slot) {
    operands_[slot->operand] = memory + slot->offset;
  }
}

}  // namespace mxc::runtime
