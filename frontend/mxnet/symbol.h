// SPDX-License-Identifier: Apache-2.0
// A symbol JSON file as it stands: nodes by number, attributes as text. The
// stages from here to the Graph, in order: ReadSymbol, UpgradeSymbol,
// BuildGraph.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/attributes.h"
#include "frontend/json/json.h"
#include "ir/graph/graph.h"
#include "ir/graph/operator.h"
#include "ir/support/diagnostic.h"

namespace mxc {

// The release whose files need no upgrade, 1.9.1.
constexpr int64_t kCurrentMxnetVersion = 10901;
// What a file without `mxnet_version` counts as, 0.8.0.
constexpr int64_t kUnnamedMxnetVersion = 800;

struct SymbolEntry {
  int64_t node = 0, output = 0;
  SourceLoc loc;
};

struct SymbolNode {
  std::string op_name, name;
  std::vector<LocatedAttr> attrs;  // names are unique
  std::vector<SymbolEntry> inputs;
  std::string subgraphs;  // JSON text of the nested graphs, if any
  SourceLoc loc;          // of the operator's name

  // Set by ResolveOperators; null for variables and unknown operators.
  std::string why_unknown;  // of an operator with that name
  const Operator* op = nullptr;
  AttrsPtr typed;

  bool is_variable() const { return op_name == "null"; }
  const LocatedAttr* Find(std::string_view attr) const;
  bool Erase(std::string_view attr);  // true if it was there
};

struct Symbol {
  std::vector<SymbolNode> nodes;
  std::vector<SymbolEntry> heads;
  int64_t version = kUnnamedMxnetVersion;
  bool names_version = false;  // the file says so
  bool numpy_shapes = false;   // 0 is an extent, -1 the unknown one
};

// Checks the structure: keys, kinds, ids in range, no node before itself.
Result<Symbol> ReadSymbol(const JsonDocument& document);

// Finds each operator and parses its attributes; what was ignored is noted.
Status ResolveOperators(Symbol& symbol, Diagnostics& notes);

// ResolveOperators, and what MXNet 1.9.1's loader does to older files
// (src/nnvm/legacy_json_util.cc).
Status UpgradeSymbol(Symbol& symbol, Diagnostics& notes);

// The graph of an upgraded symbol. Nodes that no head depends on are left out.
Result<Graph> BuildGraph(const Symbol& symbol);

}  // namespace mxc
