// SPDX-License-Identifier: Apache-2.0
#include "frontend/nested_graph.h"

#include "frontend/frontend.h"

namespace mxc {

void CopyWrittenAttributes(const Node& from, Node& to) {
  to.written.attributes = from.written.attributes;
}

void SetNestedGraph(const Graph& nested, Node& node) {
  node.written.subgraphs = "[\n" + WriteSymbol(nested) + "\n]";
}

}  // namespace mxc
