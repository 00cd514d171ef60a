// SPDX-License-Identifier: Apache-2.0
// Control flow of MXNet's symbols (operator/control_flow.cc): operators whose
// bodies are nested graphs become copies of these.
//
//   _cond        both branches, and a choice, of which form-branches (passes/)
//                makes a branch that runs one
//   _foreach     the body once for each part of the data, whose number must be
//                known by then
//   _while_loop  the body max_iterations times; once the condition has failed,
//                the variables stay, and the rows of the outputs are zeros
#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "frontend/frontend.h"
#include "frontend/json/json.h"
#include "frontend/mxnet/symbol.h"
#include "frontend/variables.h"

namespace mxc {
namespace {

// Every copy costs code: more nodes than this are refused.
constexpr int64_t kMostCopies = 1 << 16;

// A nested graph with its variables in MXNet's order.
struct Body {
  Graph graph;
  std::vector<const Node*> variables;
};

Result<Body> ReadBody(const JsonDocument& outer, const JsonValue& value,
                      const Graph& graph) {
  auto source = std::make_shared<SourceFile>();
  source->path = outer.source()->path;
  source->text = outer.Text(value);
  MXC_ASSIGN(const JsonDocument document, ParseJson(std::move(source)));
  MXC_ASSIGN(Symbol symbol, ReadSymbol(document));
  symbol.names_version = graph.mxnet_version != 0;
  if (symbol.names_version) symbol.version = graph.mxnet_version;
  symbol.numpy_shapes = graph.numpy_shapes;
  Diagnostics notes;
  MXC_RETURN_IF_ERROR(UpgradeSymbol(symbol, notes));
  Body body;
  MXC_ASSIGN(body.graph, BuildGraph(symbol));
  for (const Node* node : body.graph.TopologicalOrder()) {
    if (node->kind == Node::Kind::kVariable) body.variables.push_back(node);
  }
  return body;
}

Result<std::vector<Body>> ReadBodies(const Node& node, const Graph& graph,
                                     size_t count) {
  auto source = std::make_shared<SourceFile>();
  source->path = node.loc.file ? node.loc.file->path : node.name;
  source->text = node.subgraphs;
  MXC_ASSIGN(const JsonDocument document, ParseJson(std::move(source)));
  const JsonValue& root = document.root();
  if (!root.Is(JsonValue::Kind::kArray) || root.items.size() != count) {
    return Error(node.loc, "{} '{}' needs {} subgraphs", node.op_name,
                 node.name, count);
  }
  std::vector<Body> bodies;
  for (const auto& item : root.items) {
    auto body = ReadBody(document, item, graph);
    if (!body.ok()) {
      return Error(node.loc, "{} '{}': in its subgraph: {}", node.op_name,
                   node.name, body.errors()[0].message);
    }
    bodies.push_back(std::move(*body));
  }
  return bodies;
}

class Expansion {
 public:
  Expansion(Graph& graph, Node& node) : graph_(graph), node_(node) {}

  Status Run() {
    if (node_.op_name == "_cond") return Cond();
    if (node_.op_name == "_foreach") return Foreach();
    return WhileLoop();
  }

 private:
  template <class... Args>
  Diagnostic Fail(fmt::format_string<Args...> format, Args&&... args) const {
    return Error(node_.loc, "{} '{}': {}", node_.op_name, node_.name,
                 fmt::format(format, std::forward<Args>(args)...));
  }

  // --- attributes
  Result<std::vector<int64_t>> Numbers(std::string_view name) const {
    std::vector<int64_t> numbers;
    for (const auto& [written, text] : node_.written) {
      if (written != name) continue;
      for (const char *at = text.data(), *end = at + text.size(); at < end;) {
        int64_t number = 0;
        const auto read = std::from_chars(at, end, number);
        if (read.ec == std::errc()) numbers.push_back(number);
        at = read.ec == std::errc() ? read.ptr : at + 1;
      }
      return numbers;
    }
    return Fail("attribute '{}' is missing", name);
  }
  Result<int64_t> Number(std::string_view name) const {
    MXC_ASSIGN(const std::vector<int64_t> numbers, Numbers(name));
    if (numbers.size() == 1 && numbers[0] >= 0) return numbers[0];
    return Fail("attribute '{}' is no count", name);
  }
  // The values at these positions of `from`, `count` of them.
  Result<std::vector<Value>> Pick(const std::vector<Value>& from,
                                  std::string_view name, size_t count) const {
    MXC_ASSIGN(const std::vector<int64_t> at, Numbers(name));
    std::vector<Value> values;
    for (const int64_t i : at) {
      if (i < 0 || i >= std::ssize(from)) break;
      values.push_back(from[i]);
    }
    if (values.size() == at.size() && values.size() == count) return values;
    return Fail("attribute '{}' does not fit the subgraph", name);
  }

  // --- nodes
  Node* Named(Node* node) const {
    node->loc = node_.loc;
    node->origins = {node_.name};
    return node;
  }
  std::vector<Value> Add(std::string_view op_name, std::vector<Value> inputs,
                         std::vector<AttrText> attrs, std::string name) {
    const Operator* op = FindOperator(op_name);
    std::vector<AttrError> errors;
    AttrsPtr parsed = op->parse(attrs, errors);
    MXC_CHECK(errors.empty(), "{}: {}", op_name, errors[0].message);
    Node* node =
        Named(graph_.AddOperator(op, fmt::format("{}/{}", node_.name, name),
                                 std::move(parsed), std::move(inputs)));
    node->op_name = op_name;
    std::vector<Value> outputs;
    for (size_t i = 0; i < node->types.size(); ++i) {
      outputs.push_back(node->out(static_cast<int>(i)));
    }
    return outputs;
  }
  Value Select(Value condition, Value x, Value y, std::string name) {
    return Add("_select", {condition, x, y}, {}, std::move(name))[0];
  }
  Value Stack(std::vector<Value> parts, size_t output) {
    const std::string count = std::to_string(parts.size());
    return Add("stack", std::move(parts), {{"num_args", count}},
               fmt::format("output{}", output))[0];
  }

  // What a copy of the body yields for these values of its variables.
  std::vector<Value> Copy(const Body& body, const std::vector<Value>& values,
                          const std::string& prefix) {
    std::map<const Node*, Node*> copies;
    std::map<const Node*, Value> given;
    for (size_t i = 0; i < body.variables.size(); ++i) {
      given[body.variables[i]] = values[i];
    }
    const auto copied = [&](const Value& value) {
      const auto found = given.find(value.node);
      return found != given.end() ? found->second
                                  : Value{copies[value.node], value.index};
    };
    for (const Node* from : body.graph.TopologicalOrder()) {
      if (from->kind == Node::Kind::kVariable) continue;
      std::vector<Value> inputs;
      for (const Value& input : from->inputs) inputs.push_back(copied(input));
      const std::string name =
          fmt::format("{}/{}{}", node_.name, prefix, from->name);
      Node* node = from->kind == Node::Kind::kOperator
                       ? graph_.AddOperator(from->op, name, from->attrs, inputs)
                       : graph_.AddOpaque(from->op_name, name, inputs,
                                          static_cast<int>(from->types.size()));
      node->op_name = from->op_name;
      node->subgraphs = from->subgraphs;
      node->written = from->written;
      copies[from] = Named(node);
    }
    std::vector<Value> outputs;
    for (const Value& output : body.graph.outputs) {
      outputs.push_back(copied(output));
    }
    return outputs;
  }

  Status Replace(const std::vector<Value>& outputs) {
    if (outputs.size() < node_.types.size()) {
      return Fail("the subgraphs have only {} outputs", outputs.size());
    }
    Replacements replaced;
    for (size_t i = 0; i < node_.types.size(); ++i) {
      replaced.Add(node_.out(static_cast<int>(i)), outputs[i]);
    }
    graph_.ReplaceUses(replaced);
    return Done{};
  }

  Status CheckSize(int64_t steps, const Body& body) const {
    const auto nodes = std::ssize(body.graph.nodes());
    if (steps > 0 && steps <= kMostCopies / std::max<int64_t>(nodes, 1)) {
      return Done{};
    }
    return Fail("{} steps of {} nodes are not supported, at most {} nodes",
                steps, nodes, kMostCopies);
  }

  // --- the operators
  Status Cond() {
    MXC_ASSIGN(const std::vector<Body> bodies, ReadBodies(node_, graph_, 3));
    const char* const locs[] = {"cond_input_locs", "then_input_locs",
                                "else_input_locs"};
    const char* const names[] = {"condition/", "then/", "else/"};
    std::vector<std::vector<Value>> results;
    for (int i = 0; i < 3; ++i) {
      MXC_ASSIGN(const std::vector<Value> values,
                 Pick(node_.inputs, locs[i], bodies[i].variables.size()));
      results.push_back(Copy(bodies[i], values, names[i]));
    }
    if (results[0].size() != 1 || results[1].empty() ||
        results[1].size() != results[2].size()) {
      return Fail("the branches have different outputs");
    }
    std::vector<Value> values = results[0];
    values.insert(values.end(), results[1].begin(), results[1].end());
    values.insert(values.end(), results[2].begin(), results[2].end());
    const std::string count = std::to_string(values.size());
    return Replace(
        Add("_choose", std::move(values), {{"num_args", count}}, "choice"));
  }

  Status Foreach() {
    MXC_ASSIGN(const std::vector<Body> bodies, ReadBodies(node_, graph_, 1));
    const Body& body = bodies[0];
    MXC_ASSIGN(const std::vector<int64_t> data, Numbers("in_data_locs"));
    MXC_ASSIGN(const std::vector<int64_t> states, Numbers("in_state_locs"));
    MXC_ASSIGN(const std::vector<int64_t> rest, Numbers("remain_locs"));
    MXC_ASSIGN(const int64_t out_data, Number("num_out_data"));
    // Where each variable of the body takes its value from: the inputs are the
    // data, the states, then the rest.
    std::vector<int64_t> order = data;
    order.insert(order.end(), states.begin(), states.end());
    order.insert(order.end(), rest.begin(), rest.end());
    const auto outputs = std::ssize(body.graph.outputs);
    std::vector<int> source(body.variables.size(), -1);
    for (size_t i = 0; i < order.size(); ++i) {
      if (order[i] < 0 || order[i] >= std::ssize(source)) break;
      source[order[i]] = static_cast<int>(i);
    }
    if (order.size() != node_.inputs.size() ||
        std::ranges::find(source, -1) != source.end() ||
        outputs != out_data + std::ssize(states) || data.empty()) {
      return Fail("its locations do not fit the subgraph");
    }
    const Shape& shape = node_.inputs[0].shape();
    if (!shape.known_rank() || shape.rank() == 0 || !shape.known(0)) {
      return Fail("the number of steps is not known; give the input shapes");
    }
    MXC_RETURN_IF_ERROR(CheckSize(shape[0], body));
    return UnrollForeach(body, source, data.size(), out_data, shape[0]);
  }

  Status UnrollForeach(const Body& body, const std::vector<int>& source,
                       size_t data, int64_t out_data, int64_t steps) {
    std::vector<std::vector<Value>> parts;
    for (size_t i = 0; i < data; ++i) {
      parts.push_back(Add("SliceChannel", {node_.inputs[i]},
                          {{"num_outputs", std::to_string(steps)},
                           {"axis", "0"},
                           {"squeeze_axis", "True"}},
                          fmt::format("data{}", i)));
    }
    std::vector<Value> inputs = node_.inputs;
    std::vector<std::vector<Value>> rows(out_data);
    for (int64_t step = 0; step < steps; ++step) {
      for (size_t i = 0; i < data; ++i) inputs[i] = parts[i][step];
      std::vector<Value> values;
      for (const int from : source) values.push_back(inputs[from]);
      const auto results = Copy(body, values, fmt::format("{}/", step));
      for (int64_t k = 0; k < out_data; ++k) rows[k].push_back(results[k]);
      std::copy(results.begin() + out_data, results.end(),
                inputs.begin() + static_cast<int64_t>(data));
    }
    std::vector<Value> outputs;
    for (const auto& row : rows) outputs.push_back(Stack(row, outputs.size()));
    const auto first = inputs.begin() + static_cast<int64_t>(data);
    const auto states = std::ssize(body.graph.outputs) - out_data;
    outputs.insert(outputs.end(), first, first + states);
    return Replace(outputs);
  }

  Status WhileLoop() {
    MXC_ASSIGN(const std::vector<Body> bodies, ReadBodies(node_, graph_, 2));
    MXC_ASSIGN(const int64_t steps, Number("max_iterations"));
    MXC_ASSIGN(const int64_t out_data, Number("num_out_data"));
    MXC_ASSIGN(const std::vector<int64_t> from, Numbers("func_input_locs"));
    MXC_ASSIGN(const std::vector<int64_t> variables, Numbers("func_var_locs"));
    MXC_RETURN_IF_ERROR(CheckSize(steps, bodies[1]));
    // The k-th variable of the loop is this input of the node.
    std::vector<int64_t> slots;
    for (const int64_t at : variables) {
      const bool inside = at >= 0 && at < std::ssize(from) && from[at] >= 0 &&
                          from[at] < std::ssize(node_.inputs);
      if (!inside) return Fail("attribute 'func_var_locs' is out of range");
      slots.push_back(from[at]);
    }
    if (std::ssize(bodies[1].graph.outputs) != out_data + std::ssize(slots) ||
        bodies[0].graph.outputs.size() != 1) {
      return Fail("the subgraphs have other outputs than expected");
    }
    return UnrollWhile(bodies, slots, out_data, steps);
  }

  Status UnrollWhile(const std::vector<Body>& bodies,
                     const std::vector<int64_t>& slots, int64_t out_data,
                     int64_t steps) {
    std::vector<Value> inputs = node_.inputs;
    std::vector<std::vector<Value>> rows(out_data);
    Value active;
    for (int64_t step = 0; step < steps; ++step) {
      MXC_ASSIGN(const std::vector<Value> asked,
                 Pick(inputs, "cond_input_locs", bodies[0].variables.size()));
      MXC_ASSIGN(const std::vector<Value> given,
                 Pick(inputs, "func_input_locs", bodies[1].variables.size()));
      const Value holds =
          Copy(bodies[0], asked, fmt::format("{}/condition/", step))[0];
      active = step == 0 ? holds
                         : Add("broadcast_logical_and", {active, holds}, {},
                               fmt::format("{}/active", step))[0];
      const auto results = Copy(bodies[1], given, fmt::format("{}/", step));
      const auto name = [&](int64_t k) {
        return fmt::format("{}/output{}", step, k);
      };
      for (int64_t k = 0; k < out_data; ++k) {
        const Value zeros = Add("zeros_like", {results[k]}, {}, name(k))[0];
        rows[k].push_back(Select(active, results[k], zeros, name(k)));
      }
      for (size_t k = 0; k < slots.size(); ++k) {
        const auto result = out_data + static_cast<int64_t>(k);
        inputs[slots[k]] =
            Select(active, results[result], inputs[slots[k]], name(result));
      }
    }
    std::vector<Value> outputs;
    for (const auto& row : rows) outputs.push_back(Stack(row, outputs.size()));
    for (const int64_t slot : slots) outputs.push_back(inputs[slot]);
    return Replace(outputs);
  }

  Graph& graph_;
  Node& node_;
};

Node* FirstControlFlow(const Graph& graph) {
  for (Node* node : graph.TopologicalOrder()) {
    if (node->kind == Node::Kind::kOpaque && !node->subgraphs.empty() &&
        (node->op_name == "_cond" || node->op_name == "_foreach" ||
         node->op_name == "_while_loop")) {
      return node;
    }
  }
  return nullptr;
}

}  // namespace

Status ExpandControlFlow(Graph& graph) {
  bool any = false;
  while (Node* node = FirstControlFlow(graph)) {
    if (std::ssize(graph.nodes()) > 4 * kMostCopies) {
      return Error(node->loc, "more than {} nodes of nested loops",
                   4 * kMostCopies);
    }
    // Shapes as far as they follow: they say how often _foreach runs.
    MXC_RETURN_IF_ERROR(InferTypes(graph, false));
    MXC_RETURN_IF_ERROR(Expansion(graph, *node).Run());
    any = true;
  }
  if (any) {
    graph.RemoveDeadNodes();
    AssignRoles(graph);
  }
  return Done{};
}

}  // namespace mxc
