// SPDX-License-Identifier: Apache-2.0
#include "frontend/attach_loss.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace mxc {
namespace {

struct Row {
  const char* loss;
  const char* head;  // the operator
  const char* name;  // of the node, as MXNet's users call it
  std::vector<std::string_view> absorbs;  // operators, or their act_type
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {"softmax_cross_entropy",
       "SoftmaxOutput",
       "softmax",
       {"softmax", "log_softmax", "SoftmaxActivation"}},
      {"binary_cross_entropy",
       "LogisticRegressionOutput",
       "logistic",
       {"sigmoid"}},
      {"mse", "LinearRegressionOutput", "linear", {}},
      {"mae", "MAERegressionOutput", "mae", {}},
      {"hinge", "SVMOutput", "svm", {}},
  };
  return rows;
}

// Empty: it has none of that name.
std::string TextOf(const Node& node, std::string_view attribute) {
  for (const auto& [name, text] : node.op->print(node.attrs.get())) {
    if (name == attribute) return text;
  }
  return "";
}

bool Absorbs(const Row& row, const Node& node) {
  if (node.kind != Node::Kind::kOperator) return false;
  const auto is = [&](std::string_view name) {
    return std::ranges::count(row.absorbs, name) > 0;
  };
  return is(node.op->name) || is(TextOf(node, "act_type"));
}

Result<Value> OutputFor(const std::string& name, const Graph& graph) {
  if (name.empty()) {
    if (graph.outputs.size() == 1) return graph.outputs[0];
    return Error({},
                 "the network has {} outputs, {}: --loss needs one of them, "
                 "as NAME:{}",
                 graph.outputs.size(), fmt::join(graph.output_names, ", "),
                 graph.output_names.front());
  }
  const auto found = std::ranges::find(graph.output_names, name);
  if (found == graph.output_names.end()) {
    return Error({}, "--loss names the output '{}'; the network has {}", name,
                 fmt::join(graph.output_names, ", "));
  }
  return graph.outputs[static_cast<size_t>(found - graph.output_names.begin())];
}

// Over which axis classes are told apart; of the softmax that was left out, or
// by the number of axes.
std::vector<AttrText> SoftmaxAttributes(const Node* absorbed,
                                        const Shape& data) {
  const int rank = data.known_rank() ? data.rank() : 2;
  int axis = rank == 4 || rank == 5 ? 1 : rank - 1;
  if (absorbed != nullptr) {
    const std::string text = TextOf(*absorbed, "axis");
    if (!text.empty()) axis = std::atoi(text.c_str());
    if (axis < 0) axis += rank;
  }
  if (rank <= 2) return {};
  if (axis == 1) return {{"multi_output", "True"}};
  return {{"preserve_shape", "True"}};
}

}  // namespace

std::vector<std::string> LossNames() {
  std::vector<std::string> names;
  for (const Row& row : Rows()) names.emplace_back(row.loss);
  return names;
}

Status AttachLoss(const std::string& loss, Graph& graph) {
  const size_t colon = loss.find(':');
  const std::string kind = loss.substr(0, colon);
  const auto row = std::ranges::find_if(
      Rows(), [&](const Row& candidate) { return candidate.loss == kind; });
  if (row == Rows().end()) {
    return Error({}, "loss '{}' is unknown; known: {}", kind,
                 fmt::join(LossNames(), ", "));
  }
  MXC_ASSIGN(
      Value data,
      OutputFor(colon == loss.npos ? "" : loss.substr(colon + 1), graph));
  const Node* absorbed = nullptr;
  if (Absorbs(*row, *data.node)) {
    absorbed = data.node;
    data = data.node->inputs[0];
  }
  if (data.node->IsLossHead()) {
    return Error({},
                 "'{}' is a loss head already; --loss is for networks "
                 "without one",
                 data.node->name);
  }
  const Operator* op = FindOperator(row->head);
  const std::vector<AttrText> attrs =
      op->name == "SoftmaxOutput" ? SoftmaxAttributes(absorbed, data.shape())
                                  : std::vector<AttrText>();
  std::vector<AttrError> errors;
  AttrsPtr parsed = op->parse(attrs, errors);
  MXC_CHECK(errors.empty(), "{}", row->head);
  std::string name = row->name;
  while (graph.FindVariable(name + "_label") != nullptr) name += "_";
  Node* label = graph.AddVariable(name + "_label");
  label->op_name = "null";
  label->declared = true;
  Node* head = graph.AddOperator(op, name, parsed, {data, label->out()});
  head->written.attributes = attrs;
  graph.outputs = {head->out()};
  graph.output_names = {name + "_output"};
  return Done{};
}

}  // namespace mxc
