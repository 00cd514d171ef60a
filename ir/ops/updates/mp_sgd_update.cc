// SPDX-License-Identifier: Apache-2.0
// mp_sgd_update: sgd_update of a weight with a copy in f32.
#include "ir/ops/updates/sgd_update.h"

namespace mxc {

MXC_OP(MpSgdUpdate) {
  return SgdUpdateOperator("mp_sgd_update", WeightCopy::kState)
      .Doc("sgd_update of a weight with a copy in f32");
}

}  // namespace mxc
