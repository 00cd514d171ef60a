// SPDX-License-Identifier: Apache-2.0
#include "frontend/mxnet/subgraphs/subgraph.h"

#include <memory>
#include <utility>

#include "frontend/json/json.h"
#include "frontend/mxnet/symbol.h"

namespace mxc {
namespace {

Result<Subgraph> ReadSubgraph(const JsonDocument& outer, const JsonValue& value,
                              const Graph& graph) {
  auto source = std::make_shared<SourceFile>();
  source->path = outer.source()->path;
  source->text = outer.Text(value);
  MXC_ASSIGN(const JsonDocument document, ParseJson(std::move(source)));
  MXC_ASSIGN(Symbol symbol, ReadSymbol(document));
  symbol.names_version = graph.written.version != 0;
  if (symbol.names_version) symbol.version = graph.written.version;
  symbol.numpy_shapes = graph.written.numpy_shapes;
  Diagnostics notes;
  MXC_RETURN_IF_ERROR(UpgradeSymbol(symbol, notes));
  Subgraph subgraph;
  MXC_ASSIGN(subgraph.graph, BuildGraph(symbol));
  for (const Node* node : subgraph.graph.TopologicalOrder()) {
    if (node->kind == Node::Kind::kVariable) subgraph.variables.push_back(node);
  }
  return subgraph;
}

}  // namespace

Result<std::vector<Subgraph>> ReadSubgraphs(const Node& node,
                                            const Graph& graph, size_t count) {
  auto source = std::make_shared<SourceFile>();
  source->path = node.loc.file ? node.loc.file->path : node.name;
  source->text = node.written.subgraphs;
  MXC_ASSIGN(const JsonDocument document, ParseJson(std::move(source)));
  const JsonValue& root = document.root();
  if (!root.Is(JsonValue::Kind::kArray) || root.items.size() != count) {
    return Error(node.loc, "{} '{}' needs {} subgraphs", node.op_name,
                 node.name, count);
  }
  std::vector<Subgraph> subgraphs;
  for (const auto& item : root.items) {
    auto subgraph = ReadSubgraph(document, item, graph);
    if (!subgraph.ok()) {
      return Error(node.loc, "{} '{}': in its subgraph: {}", node.op_name,
                   node.name, subgraph.errors()[0].message);
    }
    subgraphs.push_back(*std::move(subgraph));
  }
  return subgraphs;
}

}  // namespace mxc
