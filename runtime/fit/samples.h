// SPDX-License-Identifier: Apache-2.0
// The samples of a training, as batches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/fit/request.h"
#include "runtime/fit/status.h"
#include "runtime/train/train_step.h"

namespace mxc::fit {

// Samples to train on, for batches such as `step` takes, and samples to score:
// those that are held out from training or, where none are, all. Labels get
// their numbers from what `step` was compiled for; where that is not known from
// `label_names`, else from the data.
StatusOr<std::unique_ptr<data::Iterator>> OpenTraining(
    const SampleRequest& request, bool shuffle, const train::TrainStep& step);
StatusOr<std::unique_ptr<data::Iterator>> OpenScoring(
    const SampleRequest& request, const std::vector<std::string>& label_names,
    const train::TrainStep& step);

}  // namespace mxc::fit
