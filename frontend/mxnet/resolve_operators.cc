// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "frontend/mxnet/symbol.h"
#include "ir/graph/supported.h"

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

// Beside what else is wrong; alone, it is refused where it must be compiled.
void AddUnknownOperators(const Symbol& symbol, Diagnostics& errors) {
  for (const SymbolNode& node : symbol.nodes) {
    if (node.is_variable() || node.op != nullptr) continue;
    ReportUnknown(node.loc, node.op_name, node.name, node.why_unknown, errors);
  }
}

}  // namespace

Status ResolveOperators(Symbol& symbol, Diagnostics& notes) {
  Diagnostics errors;
  for (SymbolNode& node : symbol.nodes) {
    if (node.is_variable()) continue;
    node.op = KnownOperator(node.op_name, OperatorAttrs(node.attrs),
                            node.why_unknown);
    if (node.op == nullptr) continue;
    DropForeignAttrs(node, notes);
    node.typed = ParseAttributes(
        {node.op, node.op_name, node.name, node.loc, std::nullopt}, node.attrs,
        errors);
  }
  if (errors.empty()) return Done{};
  AddUnknownOperators(symbol, errors);
  return errors;
}

}  // namespace mxc
