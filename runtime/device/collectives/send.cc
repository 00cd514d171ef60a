// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "runtime/device/collectives/declarations.h"

namespace mxc::runtime {

// The mark that it was sent is a zero, on the host.
void Send(Member& member, const CollectiveTensor& tensor) {
  member.Send(tensor.from, tensor.from_bytes, tensor.other);
  if (tensor.to_bytes > 0) std::memset(tensor.to, 0, tensor.to_bytes);
}

}  // namespace mxc::runtime
