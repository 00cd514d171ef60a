// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/storage.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace mxc::runtime {
namespace {

constexpr uint64_t kTooMuch = uint64_t{1} << 60;

uint64_t LargestArena(const Tables& tables) {
  uint64_t largest = 0;
  for (const mxc_entry& entry : tables.entries()) {
    largest = std::max(largest, entry.arena_bytes);
  }
  return largest;
}

}  // namespace

uint64_t Sizes::Add(uint64_t bytes, uint64_t alignment) {
  const uint64_t begin = total_;
  bytes = std::min(bytes, kTooMuch);
  total_ = std::min(total_ + (bytes + alignment - 1) / alignment * alignment,
                    kTooMuch);
  return begin;
}

StatusOr<std::shared_ptr<Storage>> Storage::Allocate(const Tables& tables,
                                                     Bytes weights,
                                                     uint64_t extra_bytes) {
  Sizes sizes;
  sizes.Add(tables.header().state_bytes, MXC_PAGE);
  const uint64_t arena = sizes.Add(LargestArena(tables), MXC_PAGE);
  const uint64_t extra = sizes.Add(extra_bytes, MXC_PAGE);
  StatusOr<Region> memory = Region::Allocate(
      sizes.total(), "states, arena, inputs, outputs and scratch");
  if (!memory.ok()) return memory.status();
  auto storage = std::make_shared<Storage>();
  storage->memory_ = std::move(*memory);
  storage->states_ = tables.states();
  storage->weights_ = weights;
  storage->arena_ = storage->memory_.data() + arena;
  storage->extra_ = storage->memory_.data() + extra;
  storage->ResetStates();
  return storage;
}

void Storage::ResetStates() {
  for (size_t row = 0; row < states_.size(); ++row) {
    const std::span<std::byte> state = State(row);
    if (state.empty()) continue;
    if (states_[row].initial == MXC_ZEROS) {
      std::memset(state.data(), 0, state.size());
    } else {
      std::memcpy(state.data(), weights_.data() + states_[row].initial,
                  state.size());
    }
  }
}

}  // namespace mxc::runtime
