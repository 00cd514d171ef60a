// SPDX-License-Identifier: Apache-2.0
#include "frontend/onnx/inner_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "frontend/attributes.h"
#include "frontend/frontend.h"
#include "frontend/written_builder.h"
#include "ir/ops/tensor/create/arange.h"

namespace mxc::onnx {

Value InnerGraph::Bind(Value outside, const TensorType& type) {
  Node* variable = graph_.AddVariable(fmt::format("arg{}", bound_.size()));
  variable->op_name = "null";
  variable->types[0] = type;
  bound_.emplace(variable, outside);
  return variable->out();
}

Value InnerGraph::Inside(Value outside) {
  const auto found = inside_.find(outside);
  if (found != inside_.end()) return found->second;
  const Value variable = Bind(outside, outside.type());
  inside_.emplace(outside, variable);
  return variable;
}

InnerGraph::Text InnerGraph::Write(std::vector<Value> outputs) {
  graph_.outputs = std::move(outputs);
  graph_.written.numpy_shapes = true;
  // A symbol tells variables by name, and constants are some there.
  int64_t next = 0;
  Text text;
  for (Node* node : graph_.TopologicalOrder()) {
    if (node->kind == Node::Kind::kConstant) {
      node->name = fmt::format("constant{}", next++);
    } else if (node->kind == Node::Kind::kVariable) {
      text.variables.push_back(node);
    }
  }
  text.json = WriteSymbol(graph_);
  return text;
}

namespace {

// Adds what is said as attributes and inputs of an operator with graphs inside.
class GraphsNode {
 public:
  GraphsNode(Graph& outside, const Node& origin)
      : outside_(outside), origin_(origin) {}

  void Say(std::string name, int64_t number) {
    attrs_.emplace_back(std::move(name), std::to_string(number));
  }
  void Say(std::string name, const std::vector<int64_t>& numbers) {
    attrs_.emplace_back(std::move(name), TupleText(numbers));
  }
  // The number of the input.
  int64_t Read(Value value) {
    inputs_.push_back(value);
    return std::ssize(inputs_) - 1;
  }
  void Hold(const InnerGraph::Text& text) {
    subgraphs_ += (subgraphs_.empty() ? "" : ", ") + text.json;
  }

  std::vector<Value> Add(std::string op_name, std::string_view role,
                         std::vector<TensorType> types) {
    Say("num_args", std::ssize(inputs_));
    Say("num_outputs", std::ssize(types));
    Node* node = outside_.AddOpaque(std::move(op_name),
                                    fmt::format("{}/{}", origin_.name, role),
                                    inputs_, static_cast<int>(types.size()));
    node->loc = origin_.loc;
    node->origins = {origin_.name};
    node->written.subgraphs = "[" + subgraphs_ + "]";
    node->written.attributes = std::move(attrs_);
    node->types = std::move(types);
    std::vector<Value> outputs;
    for (size_t i = 0; i < node->types.size(); ++i) {
      outputs.push_back(node->out(static_cast<int>(i)));
    }
    return outputs;
  }

 private:
  Graph& outside_;
  const Node& origin_;
  std::vector<Value> inputs_;
  std::vector<AttrText> attrs_;
  std::string subgraphs_;
};

// Whatever is carried is read, as the text knows no other variables: by its
// shape at least, which stays the same.
void ReadCarried(LoopTurn& turn, const Node& origin) {
  std::vector<Value> outputs = turn.rows;
  outputs.insert(outputs.end(), turn.next.begin(), turn.next.end());
  turn.graph.graph().outputs = outputs;
  const auto order = turn.graph.graph().TopologicalOrder();
  const std::unordered_set<const Node*> read(order.begin(), order.end());
  WrittenBuilder inside(turn.graph.graph(), origin);
  for (size_t k = 0; k < turn.carried.size(); ++k) {
    if (read.contains(turn.carried[k].node)) continue;
    turn.next[k] = inside.Op<op::ReshapeLike>({turn.next[k], turn.carried[k]});
  }
}

std::vector<Value> OutputsOf(const LoopTurn& turn) {
  std::vector<Value> outputs = turn.rows;
  outputs.insert(outputs.end(), turn.next.begin(), turn.next.end());
  return outputs;
}

std::vector<TensorType> TypesOf(const LoopTurn& turn, int64_t turns) {
  std::vector<TensorType> types;
  for (const Value& row : turn.rows) {
    Extents dims = row.shape().dims();
    dims.insert(dims.begin(), turns);
    types.push_back({row.type().dtype, Shape(dims)});
  }
  for (const Value& carried : turn.carried) types.push_back(carried.type());
  return types;
}

// The places of variables in the text.
class Places {
 public:
  explicit Places(const InnerGraph::Text& text) {
    for (const Node* variable : text.variables) {
      places_.emplace(variable, std::ssize(places_));
    }
  }
  bool Have(const Value& value) const { return places_.contains(value.node); }
  int64_t Of(const Value& value) const {
    const auto at = places_.find(value.node);
    MXC_CHECK(at != places_.end(), "variable '{}'", value.node->name);
    return at->second;
  }

 private:
  std::unordered_map<const Node*, int64_t> places_;  // looked up only
};

std::unordered_set<const Node*> NodesOf(const std::vector<Value>& values) {
  std::unordered_set<const Node*> nodes;
  for (const Value& value : values) nodes.insert(value.node);
  return nodes;
}

}  // namespace

std::vector<Value> AddForeach(Graph& outside, const Node& origin,
                              std::string_view role, LoopTurn& turn,
                              int64_t turns) {
  ReadCarried(turn, origin);
  InnerGraph::Text text = turn.graph.Write(OutputsOf(turn));
  std::vector<Value> slices;
  std::ranges::copy_if(turn.slices, std::back_inserter(slices),
                       [places = Places(text)](const Value& slice) {
                         return places.Have(slice);
                       });
  const auto rows = std::ssize(turn.rows);
  if (slices.empty()) {
    // The operator counts its turns by a slice: one that is put out, too.
    WrittenBuilder around(outside, origin);
    const Value counts = around.Op<op::Arange>(
        {}, {.start = 0, .stop = turns, .dtype = DType::kI32});
    slices = {turn.graph.Bind(counts, {DType::kI32, Shape(Extents())})};
    WrittenBuilder inside(turn.graph.graph(), origin);
    turn.rows.push_back(inside.Op<op::Copy>({slices[0]}));
    text = turn.graph.Write(OutputsOf(turn));
  }
  const Places places(text);
  GraphsNode node(outside, origin);
  std::vector<int64_t> data, states, rest;
  for (const Value& slice : slices) {
    node.Read(turn.graph.OutsideOf(slice.node));
    data.push_back(places.Of(slice));
  }
  for (const Value& carried : turn.carried) {
    node.Read(turn.graph.OutsideOf(carried.node));
    states.push_back(places.Of(carried));
  }
  const auto sliced = NodesOf(slices), stated = NodesOf(turn.carried);
  for (size_t i = 0; i < text.variables.size(); ++i) {
    const Node* variable = text.variables[i];
    if (sliced.contains(variable) || stated.contains(variable)) continue;
    node.Read(turn.graph.OutsideOf(variable));
    rest.push_back(static_cast<int64_t>(i));
  }
  node.Say("in_data_locs", data);
  node.Say("in_state_locs", states);
  node.Say("remain_locs", rest);
  node.Say("num_out_data", std::ssize(turn.rows));
  node.Hold(text);
  std::vector<Value> outputs = node.Add("_foreach", role, TypesOf(turn, turns));
  outputs.erase(outputs.begin() + rows,
                outputs.begin() + std::ssize(turn.rows));
  return outputs;
}

std::vector<Value> AddWhileLoop(Graph& outside, const Node& origin,
                                std::string_view role, LoopTurn& turn,
                                int64_t turns) {
  ReadCarried(turn, origin);
  const InnerGraph::Text body = turn.graph.Write(OutputsOf(turn));
  const Value first = turn.graph.OutsideOf(turn.carried[0].node);
  InnerGraph condition;
  const Value asked = condition.Bind(first, first.type());
  const InnerGraph::Text test = condition.Write(
      {WrittenBuilder(condition.graph(), origin).Op<op::Copy>({asked})});
  GraphsNode node(outside, origin);
  std::vector<int64_t> from, variables;
  for (const Node* variable : body.variables) {
    from.push_back(node.Read(turn.graph.OutsideOf(variable)));
  }
  const Places places(body);
  for (const Value& carried : turn.carried) {
    variables.push_back(places.Of(carried));
  }
  node.Say("max_iterations", turns);
  node.Say("num_out_data", std::ssize(turn.rows));
  node.Say("cond_input_locs", std::vector<int64_t>{from[variables[0]]});
  node.Say("func_input_locs", from);
  node.Say("func_var_locs", variables);
  node.Hold(test);
  node.Hold(body);
  return node.Add("_while_loop", role, TypesOf(turn, turns));
}

std::vector<Value> AddCond(Graph& outside, const Node& origin, Value condition,
                           Side& then, Side& otherwise) {
  InnerGraph test;
  const Value asked = test.Bind(condition, condition.type());
  const InnerGraph::Text texts[] = {
      test.Write({WrittenBuilder(test.graph(), origin).Op<op::Copy>({asked})}),
      then.graph.Write(then.outputs), otherwise.graph.Write(otherwise.outputs)};
  const InnerGraph* const graphs[] = {&test, &then.graph, &otherwise.graph};
  const char* const names[] = {"cond_input_locs", "then_input_locs",
                               "else_input_locs"};
  GraphsNode node(outside, origin);
  for (int i = 0; i < 3; ++i) {
    std::vector<int64_t> from;
    for (const Node* variable : texts[i].variables) {
      from.push_back(node.Read(graphs[i]->OutsideOf(variable)));
    }
    node.Say(names[i], from);
    node.Hold(texts[i]);
  }
  std::vector<TensorType> types;
  for (const Value& output : then.outputs) types.push_back(output.type());
  return node.Add("_cond", "choice", std::move(types));
}

}  // namespace mxc::onnx
