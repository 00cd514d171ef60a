// SPDX-License-Identifier: Apache-2.0
// multi_adamw_update: _adamw_update of several weights.
#include "ir/ops/updates/multi_adamw.h"

namespace mxc {

MXC_OP(MultiAdamwUpdate) {
  return MultiAdamwOperator("_multi_adamw_update", WeightCopy::kNone)
      .Doc("_adamw_update of several weights");
}

}  // namespace mxc
