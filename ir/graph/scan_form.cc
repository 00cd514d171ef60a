// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/scan_form.h"

#include "ir/graph/inner_graph.h"

namespace mxc {

Result<Graph> TurnOf(const ScanForm& form, std::span<const TensorType> inputs) {
  MXC_ASSIGN(Graph turn, ParseInner("_scan", form.body));
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    Node* variable = turn.FindVariable(InnerVariable(i));
    MXC_CHECK(variable, "input {} of a scan", i);
    TensorType& type = variable->types[0];
    if (type.known()) continue;
    type = inputs[static_cast<size_t>(i)];
    if (i < form.slices && type.shape.known_rank() && type.shape.rank() > 0) {
      const Extents& dims = type.shape.dims();
      type.shape = Shape(Extents(dims.begin() + 1, dims.end()));
    }
  }
  return turn;
}

Result<Graph> TurnOf(const ScanForm& form, std::span<const Value> inputs) {
  std::vector<TensorType> types;
  for (const Value& input : inputs) types.push_back(input.type());
  return TurnOf(form, types);
}

}  // namespace mxc
