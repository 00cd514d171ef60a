// SPDX-License-Identifier: Apache-2.0
// Artifacts for jobs, as `mxc compile --entry grad,update` makes them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "ir/graph/graph.h"
#include "ir/support/result.h"
#include "passes/pass.h"

namespace mxc {

// Of a job of MXNet's: the optimizer and its arguments. Every parameter decays,
// or by its name.
TrainingOptions OptimizerOfJob(const nlohmann::json& line, bool decay_by_name);
// With which MXNet's optimizer begins.
Result<double> LearningRateOf(const TrainingOptions& training);

// The updates of all parameters and, if the network has outputs, its
// gradients. Data inputs are all but `label`.
Status WriteJobArtifact(const std::string& path, Graph network,
                        const TrainingOptions& training,
                        const std::string& label = "");

}  // namespace mxc
