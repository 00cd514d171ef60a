// SPDX-License-Identifier: Apache-2.0
// multi_mp_sgd_mom_update: mp_sgd_mom_update of several weights.
#include "ir/ops/updates/multi_sgd.h"

namespace mxc {

MXC_OP(MultiMpSgdMomUpdate) {
  return MultiSgdMomOperator("multi_mp_sgd_mom_update", WeightCopy::kState)
      .Doc("mp_sgd_mom_update of several weights");
}

}  // namespace mxc
