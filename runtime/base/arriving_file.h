// SPDX-License-Identifier: Apache-2.0
// A file whose bytes come from elsewhere while it is read.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"

namespace mxc::runtime {

// Any thread.
class ArrivingFile {
 public:
  virtual ~ArrivingFile() = default;

  // Of a file that has its size from the beginning, and zeros where nothing has
  // arrived: to be mapped.
  virtual int descriptor() const = 0;
  // Waits for these bytes. Where some of them do not come, it fails from then on.
  virtual Status Await(uint64_t begin, uint64_t bytes) = 0;
  // Says that these bytes will be awaited soon, after those it was told before.
  // Returns how many are asked for because of it.
  virtual uint64_t WillAwait(uint64_t begin, uint64_t bytes) = 0;
  virtual bool complete() const = 0;
  // Why nothing more arrives; fine while it does.
  virtual Status status() const = 0;
};

}  // namespace mxc::runtime
