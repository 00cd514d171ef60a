// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/executor.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/bytes.h"
#include "runtime/base/float_mode.h"

namespace mxc::runtime {
namespace {

Status Busy() {
  return Fail(StatusCode::kBusy,
              "this executor, or one that shares its memory, is running "
              "already");
}

// Where a model runs: on what it was compiled for.
StatusOr<const Device*> DeviceOf(const Tables& tables, const char* wanted) {
  const std::string_view named = tables.Text(tables.header().device);
  const std::string compiled_for(named.empty() ? "cpu" : named);
  if (wanted == nullptr) return FindDevice(compiled_for.c_str());
  const StatusOr<const Device*> device = FindDevice(wanted);
  if (!device.ok() || (*device)->name() == compiled_for) return device;
  return Fail(StatusCode::kInvalidArgument,
              "the model was compiled for device '%s' and does not run on '%s'",
              compiled_for.c_str(), wanted);
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
  if (options.team != nullptr && options.threads > options.team->threads()) {
    return Fail(StatusCode::kInvalidArgument,
                "%d threads of a team that has %d", options.threads,
                options.team->threads());
  }
  std::unique_ptr<Executor> executor(new Executor(std::move(model), entry));
  executor->threads_ = options.threads;
  const StatusOr<const Device*> device =
      DeviceOf(executor->model_->tables(), options.device);
  if (!device.ok()) return device.status();
  if (options.share != nullptr && options.device != nullptr &&
      *device != &options.share->shared_->device()) {
    return Fail(StatusCode::kInvalidArgument,
                "executors on different devices share no memory");
  }
  executor->MarkSharedOutputs();
  for (const mxc_step& step :
       executor->model_->tables().Steps(*executor->entry_)) {
    if (step.kind != MXC_STEP_COLLECTIVE) continue;
    const CollectiveFacts* facts =
        FindCollective(executor->model_->tables().Text(step.kernel_name));
    const bool one_way = facts->gives == CollectiveGives::kOneWay;
    if (step.turns != 0 && !one_way) executor->joint_.push_back(&step);
  }
  MXC_RT_RETURN_IF_ERROR(executor->Allocate(
      options,
      options.share != nullptr ? options.share->shared_->device() : **device));
  if (options.profile) executor->sequencer_->Profile();
  MXC_RT_RETURN_IF_ERROR(executor->StartThreads(options.team));
  return executor;
}

// One piece of memory: states and arena, then the caller's buffers, then the
// host's scratch. Where states and arena are shared, a second piece holds the
// rest.
Status Executor::Allocate(const Options& options, const Device& device) {
  Sizes sizes;
  std::vector<uint64_t> begins(buffers_.size());
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    if (CallersOwn(i)) begins[i] = sizes.Add(buffers_[i].bytes, MXC_PAGE);
  }
  Sizes stride;
  // Threads share no page; there is room for a note even if nobody needs one.
  stride.Add(std::max<uint64_t>(entry_->scratch_bytes, MXC_SCRATCH_NOTE),
             MXC_PAGE);
  const uint64_t callers = sizes.total();
  Sizes scratch;
  for (int t = 0; t < threads_; ++t) scratch.Add(stride.total(), MXC_PAGE);
  if (device.IsHost()) sizes.Add(scratch.total(), MXC_PAGE);

  StatusOr<std::byte*> memory = Reserve(options, device, sizes.total());
  if (!memory.ok()) return memory.status();
  if (device.IsHost()) {
    sequencer_.emplace(*model_, *entry_, shared_->regions(),
                       Sequencer::Scratch{*memory + callers, stride.total()},
                       threads_);
  } else {
    MXC_RT_RETURN_IF_ERROR(AllocateTwins());
    sequencer_.emplace(*model_, *entry_, shared_->regions(), shared_->run());
  }
  own_.resize(buffers_.size());
  for (uint32_t i = 0; i < buffers_.size(); ++i) {
    if (!CallersOwn(i)) continue;
    own_[i] = *memory + begins[i];
    Move(i, own_[i]);
  }
  return {};
}

// Sets shared_; returns where `bytes` of this executor alone begin.
StatusOr<std::byte*> Executor::Reserve(const Options& options,
                                       const Device& device, uint64_t bytes) {
  const Executor* const share = options.share;
  if (share != nullptr && options.stream != nullptr) {
    return Fail(StatusCode::kInvalidArgument,
                "a stream is given beside an executor to share with, whose "
                "stream it is");
  }
  if (share == nullptr) {
    auto storage = Storage::Allocate(model_, device, bytes, options.stream,
                                     options.arena, options.filled);
    if (!storage.ok()) return storage.status();
    shared_ = std::move(*storage);
    return shared_->extra();
  }
  auto memory = device.Allocate(bytes, "inputs, outputs and scratch");
  if (!memory.ok()) return memory.status();
  memory_ = std::move(*memory);
  shared_ = share->shared_;
  return memory_->data();
}

// The inputs, then the outputs.
Status Executor::AllocateTwins() {
  Sizes sizes;
  std::vector<uint64_t> begins;
  for (const auto& list : {inputs_, outputs_}) {
    for (const uint32_t buffer : list) {
      begins.push_back(sizes.Add(buffers_[buffer].bytes, MXC_PAGE));
    }
  }
  auto twins =
      shared_->device().AllocateHost(sizes.total(), "inputs and outputs");
  if (!twins.ok()) return twins.status();
  twins_ = std::move(*twins);
  for (size_t i = 0; i < begins.size(); ++i) {
    (i < inputs_.size() ? input_twins_ : output_twins_)
        .push_back(twins_->data() + begins[i]);
  }
  given_.resize(inputs_.size());
  return {};
}

void Executor::MarkSharedOutputs() {
  std::vector<bool> taken(buffers_.size());
  for (const uint32_t index : outputs_) {
    const bool own = buffers_[index].kind == MXC_BUFFER_OUTPUT && !taken[index];
    copies_.push_back({.needed = !own});
    taken[index] = true;
  }
}

Status Executor::StartThreads(std::shared_ptr<Team> given) {
  uint32_t useful = 1;
  for (const Phase& phase : sequencer_->phases()) {
    useful = std::max(useful, phase.participants);
  }
  if (useful == 1) return {};
  if (given != nullptr) {
    team_ = std::move(given);
    return {};
  }
  StatusOr<std::shared_ptr<Team>> team = Team::Start(static_cast<int>(useful));
  if (!team.ok()) return team.status();
  team_ = std::move(*team);
  return {};
}

Executor::~Executor() {
  if (running_) (void)Wait();
  if (team_ != nullptr) team_->Forget(*this);
}

// Whether it is run by as many devices as its steps are for.
Status Executor::CheckMembers() const {
  if (joint_.empty()) return {};
  const size_t members = OnHost() ? 1 : stream().members();
  for (const mxc_step* step : joint_) {
    const auto needed = static_cast<size_t>(step->turns);
    if (needed == members) continue;
    return Fail(StatusCode::kInvalidArgument,
                "step '%s' is for %zu devices together, and %zu run it",
                model_->tables().Text(step->name), needed, members);
  }
  return {};
}

Status Executor::Start() {
  if (team_ != nullptr) MXC_RT_RETURN_IF_ERROR(team_->CheckCaller());
  MXC_RT_RETURN_IF_ERROR(CheckMembers());
  if (!shared_->Begin()) return Busy();
  running_ = true;
  const FloatMode mode;
  CopyInputs();
  const uint32_t phase = sequencer_->Begin(/*thread=*/0);
  if (phase != kNoPhase) team_->Run(sequencer_->phases(), *this, phase);
  CopyOutputs();
  return {};
}

Status Executor::Wait() {
  if (!running_) {
    return Fail(StatusCode::kInvalidArgument, "no run has begun");
  }
  sequencer_->Settle();
  running_ = false;
  const Status outcome = sequencer_->Outcome();
  shared_->End();
  return outcome;
}

Status Executor::RunElements(uint64_t first, uint64_t count, uint64_t all) {
  MXC_RT_RETURN_IF_ERROR(CheckMembers());
  if (!shared_->Begin()) return Busy();
  {
    const FloatMode mode;
    CopyInputs();
    sequencer_->addresses().Rewind();
    sequencer_->RunElements(first, count, all);
    CopyOutputs();
  }
  const Status outcome = sequencer_->Outcome();
  shared_->End();
  return outcome;
}

Status Executor::RunStepwise(const std::function<bool(size_t step)>& after) {
  MXC_RT_RETURN_IF_ERROR(CheckMembers());
  if (!shared_->Begin()) return Busy();
  {
    const FloatMode mode;
    bool whole = true;
    CopyInputs();
    sequencer_->addresses().Rewind();
    sequencer_->RunAlone(0, entry_->steps.count,
                         [&](size_t step) { return whole = after(step); });
    if (whole) CopyOutputs();
    sequencer_->Settle();
  }
  const Status outcome = sequencer_->Outcome();
  shared_->End();
  return outcome;
}

bool Executor::Follow(std::function<void(size_t step)> before) {
  if (OnHost()) sequencer_->Follow(std::move(before));
  return OnHost();
}

void Executor::CopyInputs() {
  for (size_t k = 0; k < input_twins_.size(); ++k) {
    if (given_[k].on_device) continue;
    stream().Copy(MXC_PLACE_DEVICE, own_[inputs_[k]], MXC_PLACE_HOST,
                  InputStorage(k), buffers_[inputs_[k]].bytes);
  }
}

// Of a run that has succeeded.
void Executor::CopyOutputs() {
  if (!OnHost()) return CopyOutputsFromDevice();
  if (sequencer_->HasFailed()) return;
  for (size_t k = 0; k < copies_.size(); ++k) {
    void* target = copies_[k].target;
    if (!copies_[k].needed || target == nullptr) continue;
    std::memmove(target, OutputStorage(k), buffers_[outputs_[k]].bytes);
  }
}

void Executor::CopyOutputsFromDevice() {
  for (size_t k = 0; k < copies_.size(); ++k) {
    const auto& [needed, target, place] = copies_[k];
    if (IsLeftOnDevice(k) && !needed) continue;
    stream().Copy(place, target != nullptr ? target : output_twins_[k],
                  MXC_PLACE_DEVICE, sequencer_->addresses().of(outputs_[k]),
                  buffers_[outputs_[k]].bytes);
  }
}

Bytes Executor::Peek(uint32_t buffer) {
  const std::byte* from = sequencer_->addresses().of(buffer);
  const uint64_t bytes = buffers_[buffer].bytes;
  if (OnHost() || buffers_[buffer].place == MXC_PLACE_HOST) {
    return {from, bytes};
  }
  peeked_.resize(bytes);
  shared_->device().Read(peeked_.data(), from, bytes);
  return peeked_;
}

void Executor::ReadState(size_t row, void* values) const {
  const std::span<std::byte> state = State(row);
  shared_->device().Read(values, state.data(), state.size());
}

void Executor::WriteState(size_t row, const void* values) {
  const std::span<std::byte> state = State(row);
  shared_->device().Write(state.data(), values, state.size());
}

std::byte* Executor::InputStorage(size_t k) const {
  if (OnHost()) return sequencer_->addresses().of(inputs_[k]);
  // Kernels do not write to inputs: the check of the tables saw to it.
  if (given_[k].twin != nullptr) return const_cast<std::byte*>(given_[k].twin);
  return input_twins_[k];
}

void Executor::BindInput(size_t k, const void* memory, mxc_place place) {
  auto* bytes = static_cast<std::byte*>(const_cast<void*>(memory));
  if (OnHost()) return Move(inputs_[k], bytes);
  const bool on_device = place == MXC_PLACE_DEVICE && bytes != nullptr;
  given_[k] = {on_device ? nullptr : bytes, on_device};
  Move(inputs_[k], on_device ? bytes : nullptr);
}

const std::byte* Executor::OutputStorage(size_t k) const {
  if (OnHost()) return sequencer_->addresses().of(outputs_[k]);
  const void* target = copies_[k].target;
  if (IsLeftOnDevice(k)) {
    device().Read(output_twins_[k], target, buffers_[outputs_[k]].bytes);
  } else if (target != nullptr) {
    return static_cast<const std::byte*>(target);
  }
  return output_twins_[k];
}

void Executor::BindOutput(size_t k, void* memory, mxc_place place) {
  const bool copied = copies_[k].needed || !OnHost();
  if (copied) {
    copies_[k].target = memory;
    copies_[k].place = memory != nullptr && !OnHost() ? place : MXC_PLACE_HOST;
  }
  if (copies_[k].needed) return;
  Move(outputs_[k], copied && !IsLeftOnDevice(k)
                        ? nullptr
                        : static_cast<std::byte*>(memory));
}

void Executor::BindState(size_t row, void* memory) {
  auto* const bytes = static_cast<std::byte*>(memory);
  sequencer_->addresses().MoveState(
      row, bytes != nullptr ? bytes : State(row).data());
}

void Executor::Move(uint32_t buffer, std::byte* memory) {
  sequencer_->addresses().Move(buffer,
                               memory != nullptr ? memory : own_[buffer]);
}

}  // namespace mxc::runtime
