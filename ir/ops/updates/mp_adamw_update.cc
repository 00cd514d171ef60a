// SPDX-License-Identifier: Apache-2.0
// _mp_adamw_update: _adamw_update of a weight with a copy in f32.
#include "ir/ops/updates/moment_update.h"

namespace mxc {

MXC_OP(MpAdamwUpdate) {
  return AdamwUpdateOperator("_mp_adamw_update", WeightCopy::kState)
      .Doc("_adamw_update of a weight with a copy in f32");
}

}  // namespace mxc
