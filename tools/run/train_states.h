// SPDX-License-Identifier: Apache-2.0
// What a training begins with: parameters, the optimizer's states, seeds.
#pragma once

#include "runtime/train/progress.h"
#include "runtime/train/train_step.h"
#include "tools/run/train_options.h"

namespace mxc::run {

// Writes to the states of `step` what `options` name: new parameters (--init), those
// of a file (--params; what does not fit is left as --init made it, and told), the
// optimizer's states (--states). Throws a Failure.
void PrepareStates(const TrainOptions& options, train::TrainStep& step,
                   train::Reporter& reporter);

}  // namespace mxc::run
