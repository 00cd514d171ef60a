// SPDX-License-Identifier: Apache-2.0
// The parts of `mxc-cases training`.
#pragma once

#include <nlohmann/json.hpp>

#include "ir/support/result.h"
#include "tests/cases/arrays.h"
#include "tests/cases/engine.h"

namespace mxc {

// A line of optimizers.jsonl: ten steps, and the states after them.
Status CheckOptimizerCase(const nlohmann::json& line, const Archive& archive,
                          const EngineOptions& engine);

// A run of MXNet's Module of which training.tar.gz holds NAME-symbol.json,
// NAME-0000.params (the start), NAME.json and what it was after some steps.
// `data` is the folder of data sets.
Status CheckModuleCase(const std::string& name, const Archive& archive,
                       const std::string& data, const EngineOptions& engine);

}  // namespace mxc
