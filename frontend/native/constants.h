// SPDX-License-Identifier: Apache-2.0
// The key "constants" of our own JSON.
#pragma once

#include "frontend/json/json.h"
#include "frontend/native/expression.h"

namespace mxc {

// Adds them to `scope`; later ones see those before them. What is wrong goes to
// `errors`.
void EvaluateConstants(const JsonDocument& document, Budget& budget,
                       Scope& scope, JsonDiagnostics& errors);

}  // namespace mxc
