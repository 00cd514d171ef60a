// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/collectives/declarations.h"

namespace mxc::runtime {

void AllReduce(Member& member, const CollectiveTensor& tensor) {
  member.Sum(tensor);
}

}  // namespace mxc::runtime
