// SPDX-License-Identifier: Apache-2.0
// multi_mp_lans_update: _multi_lans_update of weights with copies in f32.
#include "ir/ops/updates/multi_lamb.h"

namespace mxc {

MXC_OP(MultiMpLansUpdate) {
  return MultiLansOperator("_multi_mp_lans_update", WeightCopy::kState)
      .Doc("_multi_lans_update of weights with copies in f32");
}

}  // namespace mxc
