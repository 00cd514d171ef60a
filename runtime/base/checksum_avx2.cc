// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX2, so nothing inline is included that others might share.
#include "runtime/base/checksum_avx2.h"

#if defined(__x86_64__)
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mxc::runtime {

uint64_t ChecksumAvx2(const void* bytes, size_t size) {
  return XXH3_64bits(bytes, size);
}

}  // namespace mxc::runtime
#endif
