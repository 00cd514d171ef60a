// SPDX-License-Identifier: Apache-2.0
// multi_mp_lamb_update: _multi_lamb_update of weights with copies in f32.
#include "ir/ops/updates/multi_lamb.h"

namespace mxc {

MXC_OP(MultiMpLambUpdate) {
  return MultiLambOperator("_multi_mp_lamb_update", WeightCopy::kState)
      .Doc("_multi_lamb_update of weights with copies in f32");
}

}  // namespace mxc
