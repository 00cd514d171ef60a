// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/collectives/declarations.h"

namespace mxc::runtime {

void Receive(Member& member, const CollectiveTensor& tensor) {
  member.Receive(tensor.to, tensor.to_bytes, tensor.other);
}

}  // namespace mxc::runtime
