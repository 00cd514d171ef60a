// SPDX-License-Identifier: Apache-2.0
// What runs again and again, or in one case alone, as MXNet's operators with
// nested graphs: `_foreach`, `_while_loop`, `_cond` (frontend/mxnet/subgraphs),
// which become scans and branches and can be written as a symbol.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph/graph.h"

namespace mxc::onnx {

// A graph whose variables stand for values of the graph around it.
class InnerGraph {
 public:
  Graph& graph() { return graph_; }
  // A new variable of this type, for the value or a part of it.
  Value Bind(Value outside, const TensorType& type);
  // The variable that stands for all of the value; one for each.
  Value Inside(Value outside);

  // `outputs` are what the graph yields from now on. The text of the graph, and
  // the outside of its variables in the order in which the text has them.
  struct Text {
    std::string json;
    std::vector<const Node*> variables;
  };
  Text Write(std::vector<Value> outputs);
  // What the variable was bound to.
  Value OutsideOf(const Node* variable) const { return bound_.at(variable); }

 private:
  Graph graph_;
  std::unordered_map<const Node*, Value> bound_;        // looked up only
  std::unordered_map<Value, Value, ValueHash> inside_;  // looked up only
};

// One turn of a loop. Values are inside, variables those that Bind has made.
struct LoopTurn {
  InnerGraph graph;
  // Of `_foreach`: variables that see one element of what they are bound to.
  std::vector<Value> slices;
  // Variables, and what each is in the next turn.
  std::vector<Value> carried, next;
  // What every turn puts out.
  std::vector<Value> rows;
};

// Add a node to `outside`, named `origin`/`role`. Their results: the rows of all
// turns, stacked along a new first axis, then what was carried last. The number
// of turns is at least 1.
std::vector<Value> AddForeach(Graph& outside, const Node& origin,
                              std::string_view role, LoopTurn& turn,
                              int64_t turns);
// While the first of what is carried, one element, is not 0; at most `turns`
// times. Rows of turns that do not take place are zeros.
std::vector<Value> AddWhileLoop(Graph& outside, const Node& origin,
                                std::string_view role, LoopTurn& turn,
                                int64_t turns);

struct Side {
  InnerGraph graph;
  std::vector<Value> outputs;
};
// The outputs of one side, which are of the same types: of the first where
// `condition`, one element, is not 0.
std::vector<Value> AddCond(Graph& outside, const Node& origin, Value condition,
                           Side& then, Side& otherwise);

}  // namespace mxc::onnx
