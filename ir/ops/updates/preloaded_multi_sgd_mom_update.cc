// SPDX-License-Identifier: Apache-2.0
// preloaded_multi_sgd_mom_update: multi_sgd_mom_update by rates that are inputs.
#include "ir/ops/updates/multi_sgd.h"

namespace mxc {

MXC_OP(PreloadedMultiSgdMomUpdate) {
  return PreloadedSgdMomOperator("preloaded_multi_sgd_mom_update",
                                 WeightCopy::kNone)
      .Doc("multi_sgd_mom_update by rates that are inputs");
}

}  // namespace mxc
