// SPDX-License-Identifier: Apache-2.0
// infer-types: from the shapes that the caller and the parameters fix to the
// type of every value. A type that contradicts, or stays unknown, is an error.
#include <vector>

#include "passes/passes.h"

namespace mxc {

namespace {

std::vector<TensorType> TypesOf(const Graph& graph) {
  std::vector<TensorType> types;
  for (const Node* node : graph.TopologicalOrder()) {
    types.insert(types.end(), node->types.begin(), node->types.end());
  }
  return types;
}

}  // namespace

Result<bool> InferTypesPass(Graph& graph, PassContext&) {
  const std::vector<TensorType> before = TypesOf(graph);
  MXC_RETURN_IF_ERROR(InferTypes(graph, /*complete=*/true));
  return TypesOf(graph) != before;
}

}  // namespace mxc
