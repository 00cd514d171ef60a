// SPDX-License-Identifier: Apache-2.0
// multi_mp_sgd_update: mp_sgd_update of several weights.
#include "ir/ops/updates/multi_sgd.h"

namespace mxc {

MXC_OP(MultiMpSgdUpdate) {
  return MultiSgdOperator("multi_mp_sgd_update", WeightCopy::kState)
      .Doc("mp_sgd_update of several weights");
}

}  // namespace mxc
