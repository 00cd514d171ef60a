// SPDX-License-Identifier: Apache-2.0
// What an artifact's manifest and tables say of the training that it was
// compiled for (runtime/artifact/manifest.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/executor/model.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

// All but label_names, which a file may hold wrongly.
TrainFacts TrainFactsOf(const runtime::Model& model);
// TrainFacts::label_names.
runtime::StatusOr<std::vector<std::string>> LabelNamesOf(
    const runtime::Model& model);

}  // namespace mxc::train
