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

}  // namespace mxc
