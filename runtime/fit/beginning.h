// SPDX-License-Identifier: Apache-2.0
// What a training begins with: parameters, the optimizer's states, seeds.
#pragma once

#include "runtime/fit/request.h"
#include "runtime/fit/status.h"
#include "runtime/train/progress.h"
#include "runtime/train/train_step.h"

namespace mxc::fit {

// Writes to the states of `step` what the request names: new parameters (init),
// those of a file (params; what does not fit is left as init made it, and
// told), the optimizer's states (states).
// Sets where training begins, if the states say.
Status PrepareStates(Request& request, train::TrainStep& step,
                     train::Reporter& reporter);

}  // namespace mxc::fit
