// SPDX-License-Identifier: Apache-2.0
// Attributes as a file gives them: text with a place.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/operator.h"
#include "ir/support/diagnostic.h"

namespace mxc {

struct LocatedAttr {
  std::string name, text;
  SourceLoc loc;  // of the text
};

// Values as MXNet's attributes have them: "(3,)", "(3, 3)"; the shortest text that
// reads as the number.
std::string TupleText(const Extents& values);
std::string NumberText(double value);
std::string NumberText(float value);
// What that text reads as: 0.1 of 0.1F.
double AsWritten(float value);

// Attributes of the form __name__ belong to MXNet's tools, not to operators.
bool IsAnnotation(std::string_view name);

// The attributes of the operator itself.
std::vector<AttrText> OperatorAttrs(std::span<const LocatedAttr> attrs);

// One node's operator and what it is called in the file.
struct Instance {
  const Operator* op;
  std::string_view op_name, node_name;
  const SourceLoc& loc;
  // What num_args is where it is not written; none: it must be (MXNet).
  std::optional<size_t> inputs;
};

// The typed attributes. Whatever is unknown, missing, illegal or contradicts a
// constraint goes to `errors`, at the attribute's place where it has one.
AttrsPtr ParseAttributes(const Instance& instance,
                         std::span<const LocatedAttr> attrs,
                         Diagnostics& errors);

}  // namespace mxc
