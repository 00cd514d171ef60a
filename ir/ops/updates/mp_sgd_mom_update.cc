// SPDX-License-Identifier: Apache-2.0
// mp_sgd_mom_update: sgd_mom_update of a weight with a copy in f32.
#include "ir/ops/updates/sgd_update.h"

namespace mxc {

MXC_OP(MpSgdMomUpdate) {
  return SgdMomUpdateOperator("mp_sgd_mom_update", WeightCopy::kState)
      .Doc("sgd_mom_update of a weight with a copy in f32");
}

}  // namespace mxc
