// SPDX-License-Identifier: Apache-2.0
// preloaded_multi_sgd_update: multi_sgd_update by rates that are inputs.
#include "ir/ops/updates/multi_sgd.h"

namespace mxc {

MXC_OP(PreloadedMultiSgdUpdate) {
  return PreloadedSgdOperator("preloaded_multi_sgd_update", WeightCopy::kNone)
      .Doc("sgd_update of several weights, by rates that are inputs");
}

}  // namespace mxc
