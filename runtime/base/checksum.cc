// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mxc::runtime {

uint64_t Checksum(Bytes bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

struct RunningChecksum::State {
  XXH3_state_t xxh3;
};

RunningChecksum::RunningChecksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh3);
}

RunningChecksum::~RunningChecksum() = default;

void RunningChecksum::Add(Bytes bytes) {
  XXH3_64bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

uint64_t RunningChecksum::value() const {
  return XXH3_64bits_digest(&state_->xxh3);
}

}  // namespace mxc::runtime
