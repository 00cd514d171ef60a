// SPDX-License-Identifier: Apache-2.0
// One entry of a model, bound to memory and threads. Everything that a run
// needs is allocated by Bind; a run allocates nothing.
//
// An executor is used by one thread at a time (Run says kBusy otherwise); any
// number of executors may share a model and run at once, unless they share
// their storage, too.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/executor/model.h"
#include "runtime/executor/sequencer.h"
#include "runtime/executor/storage.h"
#include "runtime/executor/team.h"

namespace mxc::runtime {

inline constexpr int kMaxThreads = 512;

// Processors that this process may use.
int AvailableThreads();

class Executor final : private Work {
 public:
  struct Options {
    int threads = 1;       // 1 to kMaxThreads, the caller's included
    bool profile = false;  // measure each step
    // States and arena of another executor of the same model: what one run
    // leaves in the states, the other's next run finds. Null: its own.
    const Executor* share = nullptr;
    // Where it runs, as in FindDevice: what the model was compiled for. Null:
    // that.
    const char* device = nullptr;
    // What runs it, of at least `threads` threads. Null: a team of its own.
    std::shared_ptr<Team> team = nullptr;
    // Where intermediate values lie, on the host: of at least arena_bytes of each
    // of the model's entries. Executors to which the same is given run one at a
    // time. Null: memory of its own, or that of `share`.
    std::shared_ptr<const Region> arena = nullptr;
    // The device's stream that runs go into (Device::OpenStream). Null: one of
    // its own, or that of `share`.
    void* stream = nullptr;
    // On the host, where states and arena are the executor's own: hears of each
    // state that has a first value in the model, by its row, before the next one
    // has, and may give back memory of it. Null: nobody does.
    std::function<void(size_t row, std::span<std::byte> value)> filled = {};
  };

  // `entry` is a row of the model's entries.
  static StatusOr<std::unique_ptr<Executor>> Bind(
      std::shared_ptr<const Model> model, size_t entry, const Options& options);

  ~Executor();  // waits for a run

  const Model& model() const { return *model_; }
  const mxc_entry& entry() const { return *entry_; }
  std::span<const mxc_buffer> buffers() const { return buffers_; }
  const Device& device() const { return shared_->device(); }
  int threads() const { return threads_; }
  // That was given; null: it has its own.
  const std::shared_ptr<const Region>& arena() const {
    return shared_->arena();
  }
  uint64_t scratch_bytes() const {
    return entry_->scratch_bytes * static_cast<uint64_t>(threads_);
  }

  Status Run() {
    MXC_RT_RETURN_IF_ERROR(Start());
    return Wait();
  }
  // Before the first run of all that share its storage: collectives are those
  // of the group, of which this is device `number`.
  Status Join(std::shared_ptr<DeviceGroup> group, size_t number) {
    return stream().Join(std::move(group), number);
  }

  // Before the first run on the host: what its collectives are done with, for
  // as long as this lives. Null: it is alone.
  void Join(HostMember* member) { sequencer_->Join(member); }

  // Begins a run and ends it. Until then inputs, outputs and states are the
  // run's. A device works meanwhile; the host has done all when Start returns.
  Status Start();
  Status Wait();
  bool IsRunning() const { return running_; }
  // The same on the calling thread alone, and `after` hears of each kernel that
  // ran, by its step's row; false ends the run there.
  Status RunStepwise(const std::function<bool(size_t step)>& after);
  // The same on the calling thread alone, of a part of the elements; the others
  // stay as they are (Sequencer::RunElements). On a device that is the host.
  Status RunElements(uint64_t first, uint64_t count, uint64_t all);
  // From the next run on `before` hears of each step before it begins, by its
  // row, on one thread at a time; while it waits, the run does. False on a
  // device that is not the host: it will hear of nothing.
  bool Follow(std::function<void(size_t step)> before);

  // The bytes of a buffer of the entry as they are now, until the next call.
  Bytes Peek(uint32_t buffer);
  // The states of the model, by their row in its tables.
  void ReadState(size_t row, void* values) const;
  void WriteState(size_t row, const void* values);
  // In place, on a device that is the host.
  std::span<std::byte> State(size_t row) const { return shared_->State(row); }
  // On the host: where the next runs find the state, and leave its next value:
  // the caller's memory, aligned to 64, or that of the executor again for null.
  // ReadState, WriteState and State stay with the executor's.
  void BindState(size_t row, void* memory);
  void ResetStates() { shared_->ResetStates(); }

  // `k` counts the entry's inputs. Where the next run reads the input from:
  // memory of the executor, or the caller's, on the host.
  std::byte* InputStorage(size_t k) const;
  // The caller's memory from now on; the executor's own again for null. A place
  // of the device's: a run copies nothing. It is aligned to 16 bytes there.
  void BindInput(size_t k, const void* memory,
                 mxc_place place = MXC_PLACE_HOST);

  // `k` counts the entry's outputs. Where the last run left the output, on the
  // host.
  const std::byte* OutputStorage(size_t k) const;
  void BindOutput(size_t k, void* memory, mxc_place place = MXC_PLACE_HOST);

  // Nanoseconds of each step in the last run, all its turns together; empty
  // without `profile`.
  std::span<const int64_t> step_times() const { return sequencer_->times(); }

 private:
  Executor(std::shared_ptr<const Model> model, size_t entry);

  Status Allocate(const Options& options, const Device& device);
  StatusOr<std::byte*> Reserve(const Options& options, const Device& device,
                               uint64_t bytes);
  Status AllocateTwins();
  void MarkSharedOutputs();
  // On `given`, or on a team of its own.
  Status StartThreads(std::shared_ptr<Team> given);

  void RunChunk(uint32_t phase, uint32_t chunk, int thread,
                bool is_first) override {
    sequencer_->RunChunk(phase, chunk, thread, is_first);
  }
  uint32_t FinishPhase(uint32_t phase, int thread) override {
    return sequencer_->Finish(phase, thread);
  }
  // In the caller's memory of a device.
  bool IsLeftOnDevice(size_t k) const {
    return copies_[k].place == MXC_PLACE_DEVICE;
  }
  bool OnHost() const { return shared_->device().IsHost(); }
  Stream& stream() const { return *shared_->run().stream; }
  void CopyInputs();
  Status CheckMembers() const;
  void CopyOutputs();
  void CopyOutputsFromDevice();
  void Move(uint32_t buffer, std::byte* memory);

  bool CallersOwn(uint32_t buffer) const {
    return buffers_[buffer].kind <= MXC_BUFFER_OUTPUT;
  }

  const std::shared_ptr<const Model> model_;
  const mxc_entry* const entry_;
  const std::span<const mxc_buffer> buffers_;
  const std::span<const uint32_t> inputs_, outputs_;
  int threads_ = 1;

  std::shared_ptr<Storage> shared_;  // states and arena
  // Inputs, outputs and scratch where shared_ has no room.
  std::unique_ptr<DeviceMemory> memory_;
  std::vector<std::byte*> own_;  // the executor's memory of inputs and outputs
  // On the host, where the device is another: what inputs are copied from, and
  // what outputs are copied to.
  std::unique_ptr<DeviceMemory> twins_;
  std::vector<std::byte*> input_twins_, output_twins_;
  // An input in the caller's memory: on the host at `twin`, if that is not null,
  // or on the device, where the input has moved to.
  struct Given {
    const std::byte* twin = nullptr;
    bool on_device = false;
  };
  std::vector<Given> given_;
  std::vector<std::byte> peeked_;
  std::optional<Sequencer> sequencer_;
  std::vector<const mxc_step*> joint_;  // those for a number of devices

  // An output that is not a buffer of its own is copied to the caller's memory.
  struct OutputCopy {
    bool needed = false;
    void* target = nullptr;
    mxc_place place = MXC_PLACE_HOST;
  };
  std::vector<OutputCopy> copies_;

  // Apart from what the team's threads read.
  alignas(128) bool running_ = false;

  std::shared_ptr<Team> team_;  // null where no phase has several threads
};

}  // namespace mxc::runtime
