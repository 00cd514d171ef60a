// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/backward.h"

#include <fmt/format.h>

#include "ir/graph/builder.h"
#include "ir/graph/gradient.h"
#include "ir/ops/operators.h"

namespace mxc {
namespace {

void AddOutput(Graph& graph, const std::string& name, Value value,
               std::vector<std::string>& expected) {
  graph.outputs.push_back(value);
  graph.output_names.push_back(name);
  expected.push_back(name);
}

// MXNet writes some states in the forward pass, others in the backward pass.
void AppendNextStates(Node& node, Graph& graph,
                      const std::map<std::string, Tensor>& tensors,
                      std::vector<std::string>& expected) {
  if (node.NextStates() == 0) return;
  const std::vector<InputSpec> specs = node.op->inputs(node.attrs.get());
  int output = static_cast<int>(node.types.size()) - node.NextStates();
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].kind != InputKind::kState) continue;
    const std::string& name = node.inputs[i].node->name;
    const bool backward = tensors.contains("aux_after_backward:" + name);
    AddOutput(graph, (backward ? "aux_after_backward:" : "aux_after:") + name,
              node.out(output++), expected);
  }
}

class Backward {
 public:
  Backward(Graph& graph, const nlohmann::json& line,
           const std::map<std::string, Tensor>& tensors,
           std::map<std::string, Tensor>& inputs)
      : graph_(graph), line_(line), tensors_(tensors), inputs_(inputs) {}

  Result<std::vector<std::string>> Append() {
    std::vector<std::string> names = line_["grads"];
    std::vector<Value> wrt;
    for (const std::string& name : names) {
      Node* variable = graph_.FindVariable(name);
      if (variable == nullptr) return Error({}, "no argument '{}'", name);
      wrt.push_back(variable->out());
    }
    const std::vector<Node*> forward = graph_.TopologicalOrder();
    MXC_ASSIGN(std::vector<Value> gradients, Gradients(graph_, Heads(), wrt));
    for (size_t i = 0; i < names.size(); ++i) {
      AppendGradient(names[i], wrt[i], gradients[i]);
    }
    for (Node* node : forward)
      AppendNextStates(*node, graph_, tensors_, expected_);
    return std::move(expected_);
  }

 private:
  // A new input that is fed with the archive's tensor.
  Value Fed(const std::string& name) {
    Node* node = graph_.AddVariable(name);
    const Tensor& value = tensors_.at(name);
    node->types[0] = value.type();
    inputs_[name] = value;
    return node->out();
  }

  std::vector<HeadGradient> Heads() {
    std::vector<HeadGradient> heads;
    for (size_t k = 0; k < graph_.outputs.size(); ++k) {
      Value gradient;
      if (line_["head_grads"]) gradient = Fed(fmt::format("ograd:{}", k));
      heads.push_back({graph_.outputs[k], gradient});
    }
    return heads;
  }

  void AppendGradient(const std::string& name, Value of, Value gradient) {
    GraphBuilder builder(graph_, *of.node);
    if (!gradient) gradient = builder.Zeros(of.type());
    if (tensors_.contains("gradin:" + name)) {
      gradient = builder.Op<op::ElemwiseAdd>({Fed("gradin:" + name), gradient});
    }
    AppendOutput("grad:" + name, gradient);
  }

  void AppendOutput(const std::string& name, Value value) {
    AddOutput(graph_, name, value, expected_);
  }

  Graph& graph_;
  const nlohmann::json& line_;
  const std::map<std::string, Tensor>& tensors_;
  std::map<std::string, Tensor>& inputs_;
  std::vector<std::string> expected_;
};

}  // namespace

void AppendNextStates(Graph& graph,
                      const std::map<std::string, Tensor>& tensors,
                      std::vector<std::string>& expected) {
  for (Node* node : graph.TopologicalOrder()) {
    AppendNextStates(*node, graph, tensors, expected);
  }
}

std::string Deviation(const nlohmann::json& line) {
  const std::string op = line["op"], note = line["note"];
  const bool adds = line["grad_req"] == "add";
  if (adds && op.ends_with("RegressionOutput")) {
    return "MXNet: scales what the buffer held, too";
  }
  if (adds && (op == "SoftmaxOutput" || op == "clip")) {
    return "MXNet: overwrites what it should add to";
  }
  if (adds && (op == "elemwise_add" || op == "_grad_add")) {
    return "MXNet: adds to one buffer what the other one holds";
  }
  if (op == "RNN" && note.starts_with("rnn_") &&
      note.find("layers 3") != note.npos) {
    return "MXNet: three layers of rnn_relu or rnn_tanh are wrong";
  }
  if (line["name"] == "SpatialTransformer-03") {
    return "a point on the border of a cell: rounding decides";
  }
  return {};
}

Result<std::vector<std::string>> AppendBackward(
    Graph& graph, const nlohmann::json& line,
    const std::map<std::string, Tensor>& tensors,
    std::map<std::string, Tensor>& inputs) {
  return Backward(graph, line, tensors, inputs).Append();
}

}  // namespace mxc
