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

StatusOr<std::shared_ptr<Storage>> Storage::Allocate(
    std::shared_ptr<const Model> model, uint64_t extra_bytes) {
  const Tables& tables = model->tables();
  Sizes sizes;
  sizes.Add(tables.header().state_bytes, MXC_PAGE);
  const uint64_t arena = sizes.Add(LargestArena(tables), MXC_PAGE);
  const uint64_t extra = sizes.Add(extra_bytes, MXC_PAGE);
  StatusOr<Region> memory = Region::Allocate(
      sizes.total(), "states, arena, inputs, outputs and scratch");
  if (!memory.ok()) return memory.status();
  auto storage = std::make_shared<Storage>();
  storage->model_ = std::move(model);
  storage->memory_ = std::move(*memory);
  storage->arena_ = storage->memory_.data() + arena;
  storage->extra_ = storage->memory_.data() + extra;
  storage->CopyInitialValues();
  return storage;
}

void Storage::ResetStates() {
  const auto states = model_->tables().states();
  for (size_t row = 0; row < states.size(); ++row) {
    if (states[row].initial != MXC_ZEROS) continue;
    const std::span<std::byte> state = State(row);
    std::fill(state.begin(), state.end(), std::byte{0});
  }
  CopyInitialValues();
}

// Piece by piece, so that never both a large state and its value in the file
// are resident.
void Storage::CopyInitialValues() {
  constexpr uint64_t kPiece = 1 << 22;
  const auto states = model_->tables().states();
  for (size_t row = 0; row < states.size(); ++row) {
    const uint64_t initial = states[row].initial;
    if (initial == MXC_ZEROS) continue;
    const std::span<std::byte> state = State(row);
    for (uint64_t at = 0; at < state.size(); at += kPiece) {
      const uint64_t bytes = std::min<uint64_t>(kPiece, state.size() - at);
      std::memcpy(state.data() + at, model_->weights().data() + initial + at,
                  bytes);
      model_->ForgetWeights(initial + at, bytes);
    }
  }
}

}  // namespace mxc::runtime
