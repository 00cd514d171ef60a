// SPDX-License-Identifier: Apache-2.0
#include "passes/schedule.h"

#include <algorithm>
#include <numeric>

#include "passes/state_order.h"

namespace mxc {
namespace {

constexpr int kNone = -2;  // no storage; -1 is that of the caller's buffers

std::vector<int> DistinctInputs(const Step& step) {
  std::vector<int> inputs = step.inputs;
  std::ranges::sort(inputs);
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  return inputs;
}

}  // namespace

Schedule::Schedule(const Program& program)
    : program_(program),
      readers_(program.buffers.size(), 0),
      before_(StepsBefore(program)) {
  for (const Step& step : program.steps) {
    inputs_.push_back(DistinctInputs(step));
    for (const int b : inputs_.back()) ++readers_[b];
    pairs_.push_back(SharePairs(program, step));
  }
}

int64_t Schedule::Bytes(int buffer) const {
  const Buffer& b = program_.buffers[buffer];
  const bool arena = b.kind == BufferKind::kInternal && b.place == kKernelPlace;
  return arena ? b.bytes() : 0;
}

int64_t Schedule::OutputBytes(int step) const {
  int64_t bytes = 0;
  for (const int b : program_.steps[step].outputs) bytes += Bytes(b);
  return bytes;
}

int64_t Schedule::PeakOf(const Order& order) const {
  Replay replay(*this);
  for (const int step : order) replay.Run(step);
  return replay.peak();
}

int64_t Schedule::Peak() const {
  Order order(size());
  std::iota(order.begin(), order.end(), 0);
  return PeakOf(order);
}

Replay::Replay(const Schedule& schedule)
    : schedule_(schedule),
      unread_(schedule.readers_),
      storage_(schedule.program_.buffers.size(), -1),
      users_(schedule.program_.buffers.size(), 0),
      last_reader_(schedule.program_.buffers.size(), 0),
      last_user_(schedule.program_.buffers.size(), 0) {
  for (size_t s = 0; s < schedule.inputs_.size(); ++s) {
    for (const int b : schedule.inputs_[s]) {
      last_reader_[b] ^= static_cast<int>(s);
    }
  }
}

void Replay::Run(int step) {
  const Step& s = schedule_.program_.steps[step];
  touched_.clear();
  for (const int b : schedule_.inputs_[step]) {
    --unread_[b];
    last_reader_[b] ^= step;
  }
  std::vector<int> taken;
  for (const int b : s.outputs) {
    const int shared = Shared(step, b, 0, taken);
    storage_[b] = shared != kNone ? shared : b;
    if (shared == kNone) live_ += schedule_.Bytes(b);
    if (storage_[b] < 0) continue;
    if (users_[storage_[b]] == 1) Touch(last_user_[storage_[b]]);
    ++users_[storage_[b]];
    last_user_[storage_[b]] ^= b;
  }
  peak_ = std::max(peak_, live_);
  for (const std::vector<int>* operands :
       {&schedule_.inputs_[step], &s.outputs}) {
    for (const int b : *operands) {
      Release(b);
      Touch(b);
    }
  }
}

int64_t Replay::LiveAfter(int step) const {
  int64_t live = live_;
  std::vector<int> taken;
  for (const int b : schedule_.program_.steps[step].outputs) {
    if (Shared(step, b, 1, taken) == kNone) live += schedule_.Bytes(b);
  }
  for (const int b : schedule_.inputs_[step]) {
    const int storage = storage_[b];
    const bool dies = unread_[b] == 1 && storage >= 0 && users_[storage] == 1;
    if (!dies || std::ranges::count(taken, storage) > 0) continue;
    live -= schedule_.Bytes(storage);
  }
  return live;
}

// The storage that `output` of a step takes from an input, and that no other
// output has taken; kNone if it takes none. `unread`: how often its inputs are
// still read by steps that have not run, if they die here.
int Replay::Shared(int step, int output, int unread,
                   std::vector<int>& taken) const {
  for (const SharePair& pair : schedule_.pairs_[step]) {
    if (pair.output != output) continue;
    const int storage = storage_[pair.input];
    if (pair.view) {
      taken.push_back(storage);
      return storage;
    }
    // Negative: the caller's, or a constant.
    if (storage < 0 || std::ranges::count(taken, storage) > 0) continue;
    if (unread_[pair.input] == unread && users_[storage] == 1) {
      taken.push_back(storage);
      return storage;
    }
  }
  return kNone;
}

void Replay::Release(int buffer) {
  const int storage = storage_[buffer];
  if (unread_[buffer] > 0 || storage < 0) return;
  storage_[buffer] = -1;
  last_user_[storage] ^= buffer;
  if (--users_[storage] == 0) live_ -= schedule_.Bytes(storage);
  if (users_[storage] == 1) Touch(last_user_[storage]);
}

// A step decides whether a buffer dies only where it is the last reader.
void Replay::Touch(int buffer) {
  if (unread_[buffer] == 1) touched_.push_back(last_reader_[buffer]);
}

}  // namespace mxc
