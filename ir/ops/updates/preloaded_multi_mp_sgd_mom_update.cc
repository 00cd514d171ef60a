// SPDX-License-Identifier: Apache-2.0
// preloaded_multi_mp_sgd_mom_update: multi_mp_sgd_mom_update by rates that are inputs.
#include "ir/ops/updates/multi_sgd.h"

namespace mxc {

MXC_OP(PreloadedMultiMpSgdMomUpdate) {
  return PreloadedSgdMomOperator("preloaded_multi_mp_sgd_mom_update",
                                 WeightCopy::kState)
      .Doc("multi_mp_sgd_mom_update by rates that are inputs");
}

}  // namespace mxc
