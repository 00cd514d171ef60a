// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/builder.h"

namespace mxc {

// The outputs, of these shapes and of the inputs' element type, of a function
// that the artifact imports (ir/program/call_functions.def).
std::vector<Value> CallOf(GraphBuilder& b, std::string_view function,
                          const std::string& attributes,
                          std::vector<Value> inputs,
                          const std::vector<Shape>& outputs);

}  // namespace mxc
