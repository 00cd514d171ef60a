// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "runtime/abi/abi.h"
#include "runtime/base/checksum_avx2.h"
#include "runtime/base/cpu.h"

namespace mxc::runtime {

uint64_t Checksum(Bytes bytes) {
#if defined(__x86_64__)
  static const bool has_avx2 = (CpuFeatures() & MXC_CPU_AVX2) != 0;
  if (has_avx2) return ChecksumAvx2(bytes.data(), bytes.size());
#endif
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
