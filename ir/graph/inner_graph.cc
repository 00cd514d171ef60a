// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/inner_graph.h"

#include <memory>
#include <utility>

namespace mxc {

std::string InnerVariable(int64_t input) {
  return "arg" + std::to_string(input);
}

Result<Graph> ParseInner(std::string holder, std::string text) {
  return ParseGraph(std::make_shared<SourceFile>(
      SourceFile{std::move(holder), std::move(text)}));
}

std::vector<Node*> LargeConstants(const Graph& graph) {
  std::vector<Node*> large;
  for (const auto& node : graph.nodes()) {
    if (node->kind == Node::Kind::kConstant &&
        node->types[0].shape.elements() > 1) {
      large.push_back(node.get());
    }
  }
  return large;
}

}  // namespace mxc
