// SPDX-License-Identifier: Apache-2.0
// States the attributes of _call, and makes such nodes: functions that the
// compiler knows and the artifact imports (LAPACK's).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

// Shapes as an attribute: "64x10,64", outermost axis first, "" for a scalar.
// Nothing where the text is no such list.
std::optional<std::vector<Shape>> ParseShapes(std::string_view text);
std::string PrintShapes(const std::vector<Shape>& shapes);

struct CallAttrs {
  int64_t num_args = 0;
  std::string function = {}, attributes = {}, shapes = {};

  void Describe(Fields& f) {
    f("num_args", num_args).Doc("number of inputs");
    f("function", function).Required().Doc("its name");
    f("attributes", attributes).Doc("words name=value, as it reads them");
    f("shapes", shapes).Required().Doc("of the outputs: 64x10,64");
  }

  std::vector<Shape> outputs() const {
    return ParseShapes(shapes).value_or(std::vector<Shape>());
  }
};
MXC_ATTRS(Call, CallAttrs);

// "data0", "data1", …, and "output0", "output1", ….
std::vector<InputSpec> NumberedInputs(int64_t count);
std::vector<std::string> NumberedOutputs(size_t count);

// The outputs, of these shapes and of the inputs' element type, of a function
// that the artifact imports (ir/program/call_functions.def).
std::vector<Value> CallOf(GraphBuilder& b, std::string_view function,
                          const std::string& attributes,
                          std::vector<Value> inputs,
                          const std::vector<Shape>& outputs);

}  // namespace mxc
