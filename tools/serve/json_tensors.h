// SPDX-License-Identifier: Apache-2.0
// Tensors that are written as JSON: nested arrays, alone, by the names of
// inputs ({"x": […], "y": […]}), {"instances": […]}, or a request of KServe's
// protocol v2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/formats/array.h"

namespace mxc::serve {

struct JsonTensors {
  // float64, or what KServe's datatype says of bytes and small integers; a name
  // may be empty.
  std::vector<runtime::NamedArray> tensors;
  std::string id;                    // KServe's
  std::vector<std::string> outputs;  // likewise; empty: all
};

// Returns whether the body begins as such a text does.
bool IsJson(std::string_view body);

// At most 2^20 numbers. Throws a run::Failure.
JsonTensors ParseJsonTensors(std::string_view body);

}  // namespace mxc::serve
