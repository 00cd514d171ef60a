// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/step_clock.h"

#include <algorithm>
#include <utility>

#include "runtime/base/clock.h"

namespace mxc::runtime {

void StepClock::Start() {
  std::ranges::fill(times_, 0);
  marks_.clear();
  if (stream_ != nullptr) {
    stream_->Mark(0);
  } else {
    last_ = Nanoseconds();
  }
}

void StepClock::Took(uint32_t step) {
  if (stream_ == nullptr) {
    const int64_t now = Nanoseconds();
    times_[step] += now - std::exchange(last_, now);
    return;
  }
  marks_.push_back(step);
  stream_->Mark(static_cast<uint32_t>(marks_.size()));
}

void StepClock::Settled() {
  if (stream_ == nullptr) return;
  for (uint32_t i = 0; i < marks_.size(); ++i) {
    times_[marks_[i]] += stream_->Between(i, i + 1);
  }
  marks_.clear();
  stream_->Mark(0);
}

}  // namespace mxc::runtime
