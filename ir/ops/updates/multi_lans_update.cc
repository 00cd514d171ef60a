// SPDX-License-Identifier: Apache-2.0
// multi_lans_update: the step of lans for several weights.
#include "ir/ops/updates/multi_lamb.h"

namespace mxc {

MXC_OP(MultiLansUpdate) {
  return MultiLansOperator("_multi_lans_update", WeightCopy::kNone)
      .Doc("the step of lans for several weights");
}

}  // namespace mxc
