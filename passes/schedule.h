// SPDX-License-Identifier: Apache-2.0
// Memory over time for an order of the steps, without looking at expressions.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/program/program.h"
#include "passes/sharing.h"

namespace mxc {

using Order = std::vector<int>;  // of steps

// The steps and buffers of a program that outlives it and does not change.
class Schedule {
 public:
  explicit Schedule(const Program& program);

  size_t size() const { return program_.steps.size(); }
  // The steps that must run before a step.
  const std::vector<int>& before(int step) const { return before_[step]; }
  int64_t Bytes(int buffer) const;  // in the arena
  int64_t OutputBytes(int step) const;
  // The largest sum of bytes alive at once; of the program's own order.
  int64_t PeakOf(const Order& order) const;
  int64_t Peak() const;

 private:
  friend class Replay;
  const Program& program_;
  std::vector<int> readers_;  // by buffer
  std::vector<std::vector<int>> inputs_, before_;
  std::vector<std::vector<SharePair>> pairs_;
};

// Simulates the memory of an execution: which bytes are alive, with outputs
// written over inputs that die.
class Replay {
 public:
  explicit Replay(const Schedule& schedule);

  void Run(int step);
  // The steps whose LiveAfter, compared with live(), the last one may have
  // changed, among those that have not run.
  const std::vector<int>& touched() const { return touched_; }
  int64_t live() const { return live_; }
  int64_t peak() const { return peak_; }
  // What would be alive after `step`, without running it.
  int64_t LiveAfter(int step) const;

 private:
  int Shared(int step, int output, int unread, std::vector<int>& taken) const;
  void Release(int buffer);
  void Touch(int buffer);

  const Schedule& schedule_;
  std::vector<int> unread_;   // by buffer: readers that have not run
  std::vector<int> storage_;  // by buffer: whose bytes it uses
  std::vector<int> users_;    // by storage
  // The exclusive or of those readers, by buffer, and of the buffers that use a
  // storage: where there is only one, it is this.
  std::vector<int> last_reader_, last_user_;
  std::vector<int> touched_;
  int64_t live_ = 0, peak_ = 0;
};

}  // namespace mxc
