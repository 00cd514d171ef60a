// SPDX-License-Identifier: Apache-2.0
// mp_lamb_update_phase1: lamb_update_phase1 of a weight with a copy in f32, which
// phase 2 changes; the step is f32.
#include "ir/ops/updates/moment_update.h"

namespace mxc {

MXC_OP(MpLambUpdatePhase1) {
  return LambPhaseOneOperator("mp_lamb_update_phase1", WeightCopy::kRead)
      .Doc("lamb_update_phase1 of a weight with a copy in f32");
}

}  // namespace mxc
