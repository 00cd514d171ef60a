// SPDX-License-Identifier: Apache-2.0
// Which labels a network can learn: those that are numbers of classes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc {

// An input whose values are the numbers of classes, 0 to classes − 1.
struct ClassLabels {
  std::string input;
  int64_t classes = 0;
  std::string ignored;  // one that may stand for none; empty: there is none
};

// An operator's attribute, as the file or the defaults have it; empty: it has
// none of that name.
std::string AttributeText(const Node& node, std::string_view name);

// The input behind operators that change the shape of values, their order or
// their type; null: there is none.
const Node* InputBehind(Value value);

// The axis of the classes of a loss's data, where it has one.
std::optional<int> ClassAxis(const Node& node, int rank);

// Of every softmax and hinge loss whose label is an input, perhaps seen in
// another shape. Types must have been inferred.
std::vector<ClassLabels> FindClassLabels(const Graph& graph);

}  // namespace mxc
