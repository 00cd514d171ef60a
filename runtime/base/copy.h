// SPDX-License-Identifier: Apache-2.0
// Copies bytes between spans.
#pragma once

#include <cstring>

#include "runtime/base/bytes.h"

namespace mxc::runtime {

// To the beginning of `to`, which has room for them. As a block: libstdc++ 12
// has std::ranges::copy move what is const one element after the other.
inline void CopyBytes(Bytes from, std::span<std::byte> to) {
  if (!from.empty()) std::memmove(to.data(), from.data(), from.size());
}

}  // namespace mxc::runtime
