// SPDX-License-Identifier: Apache-2.0
// The memory that executors of one model may share: what lives from run to run
// (states), and what a run alone needs (the arena). Executors that share it run
// one at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "runtime/base/status.h"
#include "runtime/device/device.h"
#include "runtime/executor/addresses.h"
#include "runtime/executor/model.h"

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
  // One piece of the device's memory: the states as they are before the first
  // run, the arena of the model's largest entry (pages that no run touches cost
  // nothing), then `extra_bytes` for the executor that allocates. A device that
  // is not the host gets the weights in a second piece.
  static StatusOr<std::shared_ptr<Storage>> Allocate(
      std::shared_ptr<const Model> model, const Device& device,
      uint64_t extra_bytes);

  const Device& device() const { return *device_; }

  // The regions of the model's buffers.
  Regions regions() const {
    return {.weights = weights_,
            .prepared = prepared_,
            .states = memory_->data(),
            .arena = arena_};
  }
  std::byte* extra() const { return extra_; }

  // `row` of tables.states(); on the device.
  std::span<std::byte> State(size_t row) const {
    const mxc_state& state = model_->tables().states()[row];
    return {memory_->data() + state.offset, state.bytes};
  }
  // To what they are before the first run.
  void ResetStates();

  // False: a run is going on.
  bool Begin() { return !running_.exchange(true, std::memory_order_acquire); }
  void End() { running_.store(false, std::memory_order_release); }

 private:
  Status PlaceWeights();
  void CopyInitialValues();

  std::shared_ptr<const Model> model_;
  const Device* device_ = nullptr;
  std::unique_ptr<DeviceMemory> memory_;  // begins with the states
  std::unique_ptr<DeviceMemory> device_weights_;
  const std::byte* weights_ = nullptr;
  const std::byte* prepared_ = nullptr;
  std::byte* arena_ = nullptr;
  std::byte* extra_ = nullptr;
  std::atomic<bool> running_{false};
};

}  // namespace mxc::runtime
