// SPDX-License-Identifier: Apache-2.0
// multi_lamb_update: both phases of lamb for several weights.
#include "ir/ops/updates/multi_lamb.h"

namespace mxc {

MXC_OP(MultiLambUpdate) {
  return MultiLambOperator("_multi_lamb_update", WeightCopy::kNone)
      .Doc("both phases of lamb for several weights");
}

}  // namespace mxc
