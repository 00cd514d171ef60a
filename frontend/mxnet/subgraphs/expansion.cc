// SPDX-License-Identifier: Apache-2.0
#include "frontend/mxnet/subgraphs/expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace mxc {

std::string_view Expansion::Text(
    std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names) {
    for (const auto& [written, text] : node_.written.attributes) {
      if (written == name) return text;
    }
  }
  return {};
}

bool Expansion::Flag(std::initializer_list<std::string_view> names) const {
  const std::string_view text = Text(names);
  return text == "true" || text == "True" || text == "1";
}

Result<std::vector<int64_t>> Expansion::Numbers(std::string_view name) const {
  std::vector<int64_t> numbers;
  for (const auto& [written, text] : node_.written.attributes) {
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

Result<int64_t> Expansion::Number(std::string_view name) const {
  MXC_ASSIGN(const std::vector<int64_t> numbers, Numbers(name));
  if (numbers.size() == 1 && numbers[0] >= 0) return numbers[0];
  return Fail("attribute '{}' is no count", name);
}

Result<std::vector<Value>> Expansion::Pick(const std::vector<Value>& from,
                                           std::string_view name,
                                           size_t count) const {
  MXC_ASSIGN(const std::vector<int64_t> at, Numbers(name));
  std::vector<Value> values;
  for (const int64_t i : at) {
    if (i < 0 || i >= std::ssize(from)) break;
    values.push_back(from[i]);
  }
  if (values.size() == at.size() && values.size() == count) return values;
  return Fail("attribute '{}' does not fit the subgraph", name);
}

Node* Expansion::Named(Node* node) const {
  node->loc = node_.loc;
  node->origins = {node_.name};
  return node;
}

std::vector<Value> Expansion::Add(std::string_view op_name,
                                  std::vector<Value> inputs,
                                  std::vector<AttrText> attrs,
                                  std::string_view name) {
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

std::vector<Value> Expansion::Copy(const Subgraph& subgraph,
                                   const std::vector<Value>& values,
                                   const std::string& prefix) {
  std::map<const Node*, Node*> copies;
  std::map<const Node*, Value> given;
  for (size_t i = 0; i < subgraph.variables.size(); ++i) {
    given[subgraph.variables[i]] = values[i];
  }
  const auto copied = [&](const Value& value) {
    const auto found = given.find(value.node);
    return found != given.end() ? found->second
                                : Value{copies[value.node], value.index};
  };
  for (const Node* from : subgraph.graph.TopologicalOrder()) {
    if (from->kind == Node::Kind::kVariable) continue;
    std::vector<Value> inputs;
    for (const Value& input : from->inputs) inputs.push_back(copied(input));
    const std::string name =
        fmt::format("{}/{}{}", node_.name, prefix, from->name);
    if (from->kind == Node::Kind::kConstant) {
      copies[from] = Named(graph_.AddConstant(name, from->constant));
      continue;
    }
    Node* node = from->kind == Node::Kind::kOperator
                     ? graph_.AddOperator(from->op, name, from->attrs, inputs)
                     : graph_.AddOpaque(from->op_name, name, inputs,
                                        static_cast<int>(from->types.size()));
    node->op_name = from->op_name;
    node->written.subgraphs = from->written.subgraphs;
    node->written.attributes = from->written.attributes;
    copies[from] = Named(node);
  }
  std::vector<Value> outputs;
  for (const Value& output : subgraph.graph.outputs) {
    outputs.push_back(copied(output));
  }
  return outputs;
}

Value Expansion::Stack(std::vector<Value> rows, size_t output) {
  const std::string count = std::to_string(rows.size());
  return Add("stack", std::move(rows), {{"num_args", count}},
             fmt::format("output{}", output))[0];
}

Status Expansion::Replace(const std::vector<Value>& outputs) {
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

Status Expansion::CheckSize(int64_t steps, const Subgraph& body) const {
  const auto nodes = std::ssize(body.graph.nodes());
  if (steps > 0 && steps <= kMostCopies / std::max<int64_t>(nodes, 1)) {
    return Done{};
  }
  return Fail("{} steps of {} nodes are not supported, at most {} nodes", steps,
              nodes, kMostCopies);
}

}  // namespace mxc
