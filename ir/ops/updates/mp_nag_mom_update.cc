// SPDX-License-Identifier: Apache-2.0
// mp_nag_mom_update: nag_mom_update of a weight with a copy in f32.
#include "ir/ops/updates/sgd_update.h"

namespace mxc {

MXC_OP(MpNagMomUpdate) {
  return NagMomUpdateOperator("mp_nag_mom_update", WeightCopy::kState)
      .Doc("nag_mom_update of a weight with a copy in f32");
}

}  // namespace mxc
