// SPDX-License-Identifier: Apache-2.0
// mp_lamb_update_phase2: lamb_update_phase2 of a weight with a copy in f32.
#include "ir/ops/updates/lamb_phase_two.h"

namespace mxc {

MXC_OP(MpLambUpdatePhase2) {
  return LambPhaseTwoOperator("mp_lamb_update_phase2", true)
      .Doc("lamb_update_phase2 of a weight with a copy in f32");
}

}  // namespace mxc
