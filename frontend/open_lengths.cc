// SPDX-License-Identifier: Apache-2.0
#include "frontend/open_lengths.h"

#include <algorithm>
#include <vector>

#include "frontend/variables.h"

namespace mxc {

Status OpenLengths(const BuildOptions& options, Graph& graph) {
  const std::vector<Node*> inputs = graph.Variables(VariableRole::kInput);
  for (Node* input : inputs) {
    const auto given = options.open_axes.find(input->name);
    if (given != options.open_axes.end()) input->use.open_axis = given->second;
  }
  Diagnostics errors;
  VisitOpenAxes(graph, [&](Node& input, int axis, int64_t& extent) {
    extent = options.length;
    int& open = input.use.open_axis;
    if (open >= 0) {
      errors.push_back(Error(
          input.loc,
          "input '{}' leaves axes {} and {} open; --length is for one of an "
          "input, --input-shape gives the other an extent",
          input.name, open, axis));
    }
    open = axis;
  });
  if (!errors.empty()) return errors;
  const bool any = std::ranges::any_of(
      inputs, [](const Node* input) { return input->use.open_axis >= 0; });
  if (!any) {
    return Error({},
                 "--length is for inputs that leave an axis open behind the "
                 "batch, or have an L in --input-shape; this network has none");
  }
  if (options.length == 1) {  // nothing is shorter
    for (Node* input : inputs) input->use.open_axis = -1;
  }
  return Done{};
}

}  // namespace mxc
