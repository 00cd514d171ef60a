// SPDX-License-Identifier: Apache-2.0
// Computes the checksums of an artifact's sections (runtime/abi/FORMAT.md).
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/base/bytes.h"

namespace mxc::runtime {

// XXH3 64, seed 0: finds damage, does not resist an adversary.
uint64_t Checksum(Bytes bytes);

// The same of bytes that come in pieces.
class RunningChecksum {
 public:
  RunningChecksum();
  ~RunningChecksum();

  void Add(Bytes bytes);
  uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mxc::runtime
