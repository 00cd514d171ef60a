// SPDX-License-Identifier: Apache-2.0
// What an artifact's manifest and tables say of the training that it was
// compiled for (runtime/artifact/manifest.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/executor/model.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

using Models = std::vector<std::shared_ptr<const runtime::Model>>;

// All but label_names, which a file may hold wrongly. Of the stages of a
// pipeline what they say together.
TrainFacts TrainFactsOf(const Models& models);
// TrainFacts::label_names.
runtime::StatusOr<std::vector<std::string>> LabelNamesOf(
    const runtime::Model& model);

}  // namespace mxc::train
