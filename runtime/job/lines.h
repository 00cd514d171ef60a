// SPDX-License-Identifier: Apache-2.0
// Reads lines from a non-blocking descriptor, for event loops.
#pragma once

#include <functional>
#include <string>

#include "runtime/base/file.h"

namespace mxc::job {

// Lines that come through a descriptor that does not wait.
class Lines {
 public:
  Lines() = default;
  // O_NONBLOCK is set on it.
  explicit Lines(runtime::Descriptor from);

  // -1: nothing comes any more.
  int descriptor() const { return from_.get(); }
  // Hands out the lines that have come, without their ends; `all`: also one
  // that has no end, and no more come. False: nothing more comes.
  bool Read(const std::function<void(const std::string&)>& take,
            bool all = false);

 private:
  runtime::Descriptor from_;
  std::string rest_;  // of a line
};

}  // namespace mxc::job
