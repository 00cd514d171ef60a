// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/collectives/declarations.h"

namespace mxc::runtime {

void ReduceScatter(Member& member, const CollectiveTensor& tensor) {
  member.SumPart(tensor);
}

}  // namespace mxc::runtime
