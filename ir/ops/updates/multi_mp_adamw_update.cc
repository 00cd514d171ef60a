// SPDX-License-Identifier: Apache-2.0
// multi_mp_adamw_update: _mp_adamw_update of several weights.
#include "ir/ops/updates/multi_adamw.h"

namespace mxc {

MXC_OP(MultiMpAdamwUpdate) {
  return MultiAdamwOperator("_multi_mp_adamw_update", WeightCopy::kState)
      .Doc("_mp_adamw_update of several weights");
}

}  // namespace mxc
