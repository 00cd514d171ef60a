// SPDX-License-Identifier: Apache-2.0
// How long steps take, by the clock of what runs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/device/device.h"

namespace mxc::runtime {

class StepClock {
 public:
  // `stream`: of the device that runs them; null: the host does.
  StepClock(size_t steps, Stream* stream) : times_(steps), stream_(stream) {}

  // A walk begins: no step has taken any time.
  void Start();
  // What was done, or put into the stream, since the last call is the step's.
  void Took(uint32_t step);
  // The stream has done all that was put in; between this and the next step no
  // time passes.
  void Settled();

  // Of the stream, since it has settled.
  size_t marks() const { return marks_.size(); }
  // Nanoseconds by step, all its turns together; of a device, when it has
  // settled.
  std::span<const int64_t> times() const { return times_; }

 private:
  std::vector<int64_t> times_;
  Stream* const stream_;
  int64_t last_ = 0;             // the host's
  std::vector<uint32_t> marks_;  // steps that marks 1, 2, … of the stream end
};

}  // namespace mxc::runtime
