// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/collectives/declarations.h"

namespace mxc::runtime {

void AllGather(Member& member, const CollectiveTensor& tensor) {
  member.Gather(tensor);
}

}  // namespace mxc::runtime
