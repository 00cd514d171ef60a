// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "frontend/mxnet/symbol.h"

namespace mxc {
namespace {

// Written by patched builds of MXNet; no effect on the values.
constexpr std::string_view kForeignAttrs[] = {"mkldnn_off"};

void DropForeignAttrs(SymbolNode& node, Diagnostics& notes) {
  for (const std::string_view name : kForeignAttrs) {
    const LocatedAttr* attr = node.Find(name);
    if (attr == nullptr) continue;
    notes.push_back(Error(attr->loc, "attribute '{}' of {} '{}' is ignored",
                          name, node.op_name, node.name));
    node.Erase(name);
  }
}

}  // namespace

Status ResolveOperators(Symbol& symbol, Diagnostics& notes) {
  Diagnostics errors;
  for (SymbolNode& node : symbol.nodes) {
    if (node.is_variable()) continue;
    node.op = FindPublicOperator(node.op_name);
    if (node.op == nullptr) continue;
    DropForeignAttrs(node, notes);
    node.typed = ParseAttributes(
        {node.op, node.op_name, node.name, node.loc, std::nullopt}, node.attrs,
        errors);
  }
  if (!errors.empty()) return errors;
  return Done{};
}

}  // namespace mxc
