// SPDX-License-Identifier: Apache-2.0
// multi_sgd_mom_update: sgd_mom_update of several weights. MXNet 1.9.1 knows it without a graph alone.
#include "ir/ops/updates/multi_sgd.h"

namespace mxc {

MXC_OP(MultiSgdMomUpdate) {
  return MultiSgdMomOperator("multi_sgd_mom_update", WeightCopy::kNone)
      .Doc("sgd_mom_update of several weights");
}

}  // namespace mxc
