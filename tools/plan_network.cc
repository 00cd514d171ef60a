// SPDX-License-Identifier: Apache-2.0
#include "tools/plan_network.h"

#include <algorithm>
#include <string>
#include <vector>

#include "frontend/variables.h"
#include "runtime/data/label_names.h"
#include "runtime/train/checkpoint.h"

namespace mxc {
namespace {

// "statecell" of RNN's input "state_cell" and of its output "statecell_output".
std::string WithoutOutput(std::string name) {
  std::erase(name, '_');
  if (name.ends_with("output")) name.resize(name.size() - 6);
  return name;
}

// The input that an output is in the next run: the output of a node that has an
// input of the same name ("state"), perhaps behind operators of one input.
const Node* CarriedInput(Value output) {
  while (output.node->kind == Node::Kind::kOperator) {
    const Node& node = *output.node;
    const std::vector<InputSpec> specs = node.op->inputs(node.attrs.get());
    const std::string name = WithoutOutput(node.OutputName(output.index));
    for (size_t i = 0; i < specs.size() && i < node.inputs.size(); ++i) {
      const Node* input = node.inputs[i].node;
      if (WithoutOutput(specs[i].name) == name &&
          input->kind == Node::Kind::kVariable &&
          input->role == VariableRole::kInput &&
          input->types[0] == output.type()) {
        return input;
      }
    }
    if (node.inputs.size() != 1 || node.inputs[0].type() != output.type()) {
      return nullptr;
    }
    output = node.inputs[0];
  }
  return nullptr;
}

void NoteCarries(const Graph& graph, Plan& plan) {
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Node* input = CarriedInput(graph.outputs[i]);
    if (input == nullptr) continue;
    plan.carries.emplace_back(graph.output_names[i], input->name);
    std::erase(plan.data_inputs, input->name);
  }
}

void NoteVariable(const Graph& graph, const Node& node, Plan& plan) {
  if (node.kind == Node::Kind::kConstant || node.role != VariableRole::kInput) {
    ++plan.parameters;
    plan.parameter_bytes += node.constant.size_bytes();
  }
  if (node.kind == Node::Kind::kConstant) return;
  switch (node.role) {
    case VariableRole::kInput: {
      const bool label = IsLabel(graph, node) || node.name.ends_with("label");
      (label ? plan.label_inputs : plan.data_inputs).push_back(node.name);
      break;
    }
    case VariableRole::kParameter:
      plan.parameter_names.push_back(node.name);
      break;
    case VariableRole::kState:
      plan.auxiliary_names.push_back(node.name);
      break;
  }
}

}  // namespace

std::vector<std::string> LabelNamesBeside(const std::string& parameter_file) {
  if (parameter_file.empty()) return {};
  const auto names =
      data::ParseLabelNames(train::NoteBeside(parameter_file, "label_names"));
  return names.ok() ? *names : std::vector<std::string>();
}

void NoteNetwork(const Model& model, Plan& plan) {
  plan.label_names = LabelNamesBeside(model.parameter_file);
  plan.stem = model.stem;
  plan.source = model.source;
  for (const Node* node : model.graph.TopologicalOrder()) {
    ++plan.nodes;
    if (node->kind == Node::Kind::kOperator) {
      plan.operators.push_back({node->name, node->op->name});
    } else {
      NoteVariable(model.graph, *node, plan);
    }
  }
  NoteCarries(model.graph, plan);
}

}  // namespace mxc
