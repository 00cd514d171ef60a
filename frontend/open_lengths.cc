// SPDX-License-Identifier: Apache-2.0
#include "frontend/open_lengths.h"

#include "frontend/variables.h"

namespace mxc {

Status OpenLengths(const BuildOptions& options, Graph& graph) {
  bool any = false;
  for (Node* input : graph.Variables(VariableRole::kInput)) {
    Shape& shape = input->types[0].shape;
    const auto given = options.open_axes.find(input->name);
    if (given != options.open_axes.end()) input->use.open_axis = given->second;
    if (shape.known_rank()) {
      const int batch = BatchAxis(*input, shape.rank());
      for (int axis = 0; axis < shape.rank(); ++axis) {
        if (axis == batch || shape.known(axis)) continue;
        if (input->use.open_axis >= 0) {
          return Error(input->loc,
                       "input '{}' leaves axes {} and {} open; --length is for "
                       "one of an input, --input-shape gives the other an "
                       "extent",
                       input->name, input->use.open_axis, axis);
        }
        shape[axis] = options.length;
        input->use.open_axis = axis;
      }
    }
    any = any || input->use.open_axis >= 0;
  }
  if (options.length == 1) {  // nothing is shorter
    for (Node* input : graph.Variables(VariableRole::kInput)) {
      input->use.open_axis = -1;
    }
  }
  if (any) return Done{};
  return Error({},
               "--length is for inputs that leave an axis open behind the "
               "batch, or have an L in --input-shape; this network has none");
}

}  // namespace mxc
