// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/plan_network.h"
#include "tools/driver/loss_heads.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontend/generate.h"
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
class CarriedInputs {
 public:
  const Node* Of(Value output) {
    std::vector<Value> passed;
    const Node* input = Find(output, passed);
    for (const Value& value : passed) known_.emplace(value, input);
    return input;
  }

 private:
  const Node* Find(Value output, std::vector<Value>& passed) {
    while (output.node->kind == Node::Kind::kOperator) {
      if (const auto at = known_.find(output); at != known_.end()) {
        return at->second;
      }
      passed.push_back(output);
      const Node& node = *output.node;
      if (const Node* input = InputLike(output)) return input;
      if (node.inputs.size() != 1 || node.inputs[0].type() != output.type()) {
        return nullptr;
      }
      output = node.inputs[0];
    }
    return nullptr;
  }

  const Node* InputLike(Value output) {
    const Node& node = *output.node;
    const std::vector<InputSpec> specs = node.op->inputs(node.attrs.get());
    const std::string name = WithoutOutput(namer_.NameOf(output));
    for (size_t i = 0; i < specs.size() && i < node.inputs.size(); ++i) {
      const Node* input = node.inputs[i].node;
      if (WithoutOutput(specs[i].name) == name &&
          input->kind == Node::Kind::kVariable &&
          input->role == VariableRole::kInput &&
          input->types[0] == output.type()) {
        return input;
      }
    }
    return nullptr;
  }

  // What was found so far, by the values that were passed.
  std::unordered_map<Value, const Node*, ValueHash> known_;
  OutputNamer namer_;
};

void NoteCarries(const Graph& graph, Plan& plan) {
  CarriedInputs carried;
  std::unordered_set<std::string> names;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Node* input = carried.Of(graph.outputs[i]);
    if (input == nullptr) continue;
    plan.carries.emplace_back(graph.output_names[i], input->name);
    names.insert(input->name);
  }
  std::erase_if(plan.data_inputs,
                [&](const std::string& name) { return names.contains(name); });
}

// Samples fill neither of the inputs that say where texts stand.
void NoteRowsKept(const Graph& graph, Plan& plan) {
  const auto kept = RowsKept(graph);
  if (!kept) return;
  plan.rows_kept = *kept;
  std::erase(plan.data_inputs, kPositionInput);
  std::erase(plan.data_inputs, kStreamInput);
}

void NoteVariable(const std::unordered_set<const Node*>& labels,
                  const Node& node, Plan& plan) {
  if (node.kind == Node::Kind::kConstant || node.role != VariableRole::kInput) {
    ++plan.parameters;
    plan.parameter_bytes += node.constant.size_bytes();
  }
  if (node.kind == Node::Kind::kConstant) return;
  switch (node.role) {
    case VariableRole::kInput: {
      const bool label = labels.contains(&node) || node.name.ends_with("label");
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

std::vector<std::string> LabelNamesOf(const train::Provenance& provenance) {
  const auto names = data::ParseLabelNames(provenance.Note("label_names"));
  return names.ok() ? *names : std::vector<std::string>();
}

void NoteNetwork(const Model& model, Plan& plan) {
  const train::Provenance& learned = plan.network->parameter_file().provenance;
  if (!plan.network->begins_classes()) plan.label_names = LabelNamesOf(learned);
  plan.preprocessing = learned.Note("preprocess");
  plan.stem = model.stem;
  const std::unordered_set<const Node*> labels = LabelsOf(model.graph);
  for (const Node* node : model.graph.TopologicalOrder()) {
    ++plan.nodes;
    if (node->kind == Node::Kind::kOperator) {
      plan.operators.push_back({node->name, node->op->name});
    } else {
      NoteVariable(labels, *node, plan);
    }
  }
  NoteCarries(model.graph, plan);
  NoteRowsKept(model.graph, plan);
  plan.class_labels = FindClassLabels(model.graph);
  plan.heads = FindLossHeads(model.graph, plan.label_inputs);
}

}  // namespace mxc
