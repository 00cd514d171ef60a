// SPDX-License-Identifier: Apache-2.0
// The memory that executors of one model may share: what lives from run to run
// (states), and what a run alone needs (the arena). Executors that share it run
// one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "runtime/base/memory.h"
#include "runtime/base/status.h"
#include "runtime/device/device.h"
#include "runtime/executor/addresses.h"
#include "runtime/executor/model.h"
#include "runtime/executor/sequencer.h"

namespace mxc::runtime {

// Sums sizes, each rounded up so that the next one is aligned; too large a sum
// stays too large.
class Sizes {
 public:
  // Returns where the piece begins.
  uint64_t Add(uint64_t bytes, uint64_t alignment);
  uint64_t total() const { return total_; }

 private:
  uint64_t total_ = 0;
};

class Storage {
 public:
  using Filled = std::function<void(size_t row, std::span<std::byte> value)>;

  // One piece of the device's memory: the states as they are before the first
  // run, the arena of the model's largest entry (pages that no run touches cost
  // nothing), then `extra_bytes` for the executor that allocates. A device that
  // is not the host gets the weights in a second piece, and loads the model's
  // code. A third one is the host's arena, if steps run there. `stream` as in
  // Device::OpenStream, `arena` and `filled` as in Executor::Options.
  static StatusOr<std::shared_ptr<Storage>> Allocate(
      std::shared_ptr<const Model> model, const Device& device,
      uint64_t extra_bytes, void* stream, std::shared_ptr<const Region> arena,
      const Filled& filled = {});

  const Device& device() const { return *device_; }
  // Of a device that is not the host.
  DeviceRun run() const {
    return {
        .device = device_, .module = module_.get(), .stream = stream_.get()};
  }

  // The regions of the model's buffers.
  Regions regions() const {
    return {
        .weights = weights_,
        .prepared = prepared_,
        .states = memory_->data(),
        .arena = arena_,
        .host_weights = model_->weights().data(),
        .host_arena = host_arena_ != nullptr ? host_arena_->data() : nullptr};
  }
  std::byte* extra() const { return extra_; }
  // That was given; null: it is of its own memory.
  const std::shared_ptr<const Region>& arena() const { return given_arena_; }

  // `row` of tables.states(); on the device.
  std::span<std::byte> State(size_t row) const {
    const mxc_state& state = model_->tables().states()[row];
    return {memory_->data() + state.offset, state.bytes};
  }
  // To what they are before the first run.
  void ResetStates();

  // False: a run is going on.
  bool Begin() { return running_.exchange(1, std::memory_order_acquire) == 0; }
  void End() { running_.store(0, std::memory_order_release); }

 private:
  Status PlaceWeights();
  Status OpenDevice(void* stream);
  Status CheckKernels() const;
  void CopyInitialValues(const Filled& filled = {});

  std::shared_ptr<const Model> model_;
  const Device* device_ = nullptr;
  std::unique_ptr<DeviceMemory> memory_;  // begins with the states
  std::shared_ptr<const Region> given_arena_;
  std::unique_ptr<DeviceMemory> device_weights_, host_arena_;
  std::unique_ptr<DeviceModule> module_;
  std::unique_ptr<Stream> stream_;  // last: it uses the rest
  const std::byte* weights_ = nullptr;
  const std::byte* prepared_ = nullptr;
  std::byte* arena_ = nullptr;
  std::byte* extra_ = nullptr;
  // Of four bytes: to exchange one, GCC 12 calls libatomic on RISC-V.
  std::atomic<uint32_t> running_{0};
};

}  // namespace mxc::runtime
