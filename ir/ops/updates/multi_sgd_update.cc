// SPDX-License-Identifier: Apache-2.0
// multi_sgd_update: sgd_update of several weights.
#include "ir/ops/updates/multi_sgd.h"

namespace mxc {

MXC_OP(MultiSgdUpdate) {
  return MultiSgdOperator("multi_sgd_update", WeightCopy::kNone)
      .Doc("sgd_update of several weights");
}

}  // namespace mxc
