// SPDX-License-Identifier: Apache-2.0
// preloaded_multi_mp_sgd_update: multi_mp_sgd_update by rates that are inputs.
#include "ir/ops/updates/multi_sgd.h"

namespace mxc {

MXC_OP(PreloadedMultiMpSgdUpdate) {
  return PreloadedSgdOperator("preloaded_multi_mp_sgd_update",
                              WeightCopy::kState)
      .Doc("multi_mp_sgd_update by rates that are inputs");
}

}  // namespace mxc
