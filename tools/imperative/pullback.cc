// SPDX-License-Identifier: Apache-2.0
#include "tools/imperative/pullback.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_set>
#include <utility>

#include "ir/graph/copy.h"
#include "ir/graph/gradient.h"
#include "passes/decompose.h"
#include "passes/node_values.h"
#include "passes/passes.h"
#include "tools/imperative/whole_numbers.h"

namespace mxc {
namespace {

namespace rt = runtime;

using Slot = std::pair<int, int>;  // node id, output index
Slot SlotOf(Value value) { return {value.node->id(), value.index}; }

class Source final : public rt::GradientSource {
 public:
  FunctionGraph function;          // ids are positions
  std::map<Slot, uint32_t> saved;  // numbers in RecordedForm::saved
};

const Source& SourceOf(const rt::GradientSource& source) {
  return static_cast<const Source&>(source);
}

// Has parts, and its gradient is theirs: the parts are recorded.
bool HasGradientOfParts(const Graph&, const Node& node) {
  return !node.op->gradient;
}

// What happens before gradients in a program that is trained whole.
Status Prepare(Graph& graph) {
  static const TrainingOptions training;
  PassContext context;
  context.training = &training;
  MXC_RETURN_IF_ERROR(ExposeDraws(graph, context));
  MXC_RETURN_IF_ERROR(FormBranches(graph, context));
  MXC_RETURN_IF_ERROR(DecomposeWhere(graph, HasGradientOfParts));
  return Done{};
}

// Decides what of a function is kept for its gradient.
class Saving {
 public:
  Saving(Source& source, rt::RecordedForm& form, size_t inputs)
      : source_(source), form_(form) {
    const std::vector<Node*> variables = source.function.Inputs(inputs);
    for (size_t i = 0; i < inputs; ++i) {
      if (variables[i] == nullptr) continue;
      found_.emplace(SlotOf(variables[i]->out()),
                     Saved(rt::SavedValue::From::kInput, i));
    }
    const std::vector<Value> outputs = source.function.RecordedOutputs();
    for (size_t o = 0; o < outputs.size(); ++o) {
      found_.emplace(SlotOf(outputs[o]),
                     Saved(rt::SavedValue::From::kOutput, o));
    }
  }

  void SaveWhatIsRead(const Pullback& pullback) {
    std::vector<Value> pending;
    for (const Value& gradient : pullback.gradients) {
      if (gradient) pending.push_back(gradient);
    }
    std::ranges::reverse(pending);
    std::unordered_set<Value, ValueHash> seen;
    while (!pending.empty()) {
      const Value value = pending.back();
      pending.pop_back();
      if (!seen.insert(value).second) continue;
      if (pullback.IsForward(value) && Save(value)) continue;
      const std::vector<Value>& inputs = value.node->inputs;
      pending.insert(pending.end(), inputs.rbegin(), inputs.rend());
    }
  }

 private:
  static rt::SavedValue Saved(rt::SavedValue::From from, size_t index) {
    return {from, static_cast<uint32_t>(index)};
  }

  // False: it is computed from what it reads, which costs nothing.
  bool Save(Value value) {
    const Node& node = *value.node;
    const auto [found, is_new] = found_.try_emplace(SlotOf(value));
    if (is_new) {
      const bool is_operator = node.kind == Node::Kind::kOperator;
      const bool is_free =
          node.kind == Node::Kind::kConstant ||
          (is_operator &&
           (node.op->view || (node.inputs.empty() && !node.op->random)));
      if (is_free) {
        found_.erase(found);
        return false;
      }
      Hide(value);
      found->second =
          Saved(rt::SavedValue::From::kOutput, form_.outputs.size() - 1);
    }
    const auto number = static_cast<uint32_t>(form_.saved.size());
    if (source_.saved.emplace(SlotOf(value), number).second) {
      form_.saved.push_back(found->second);
    }
    return true;
  }

  void Hide(Value value) {
    const auto& nodes = source_.function.graph.nodes();
    source_.function.Add(
        {nodes[static_cast<size_t>(value.node->id())].get(), value.index});
    form_.outputs.push_back(ArrayTypeOf(value.type()));
  }

  Source& source_;
  rt::RecordedForm& form_;
  std::map<Slot, rt::SavedValue> found_;
};

}  // namespace

FunctionGraph CopyOf(const FunctionGraph& function) {
  return {CopyOf(function.graph), function.visible, function.updates};
}

const FunctionGraph& FunctionOf(const rt::GradientSource& source) {
  return SourceOf(source).function;
}

std::optional<uint32_t> SavedAs(const rt::GradientSource& source, Value value) {
  const auto& saved = SourceOf(source).saved;
  const auto found = saved.find(SlotOf(value));
  if (found == saved.end()) return std::nullopt;
  return found->second;
}

Result<rt::RecordedForm> FormOf(FunctionGraph function, size_t inputs) {
  MXC_RETURN_IF_ERROR(Prepare(function.graph));
  auto source = std::make_shared<Source>();
  source->function = CopyOf(function);
  rt::RecordedForm form;
  form.visible_outputs = function.visible;
  for (const Value& output : source->function.RecordedOutputs()) {
    form.outputs.push_back(ArrayTypeOf(output.type()));
  }
  Saving saving(*source, form, inputs);
  const auto pullback =
      PullBack(source->function, std::vector<bool>(function.visible, true),
               std::vector<bool>(inputs, true));
  if (pullback.ok()) saving.SaveWhatIsRead(*pullback);
  form.source = std::move(source);
  return form;
}

Result<Pullback> PullBack(const FunctionGraph& function,
                          const std::vector<bool>& heads,
                          const std::vector<bool>& needed) {
  FunctionGraph copy = CopyOf(function);
  Pullback pullback;
  pullback.forward_nodes = copy.graph.nodes().size();
  const std::vector<Value> outputs = copy.RecordedOutputs();
  std::vector<HeadGradient> given;
  for (size_t o = 0; o < heads.size(); ++o) {
    const TensorType& type = outputs[o].type();
    Value head;
    if (heads[o] && IsFloat(type.dtype)) {
      head = copy.graph.AddVariable(fmt::format("head{}", o))->out();
      head.node->types[0] = type;
    }
    pullback.heads.push_back(head);
    given.push_back({outputs[o], head});
  }
  std::vector<Value> wanted;
  std::vector<size_t> numbers;
  const std::vector<Node*> variables = copy.Inputs(needed.size());
  for (size_t i = 0; i < needed.size(); ++i) {
    Node* const variable = variables[i];
    if (!needed[i] || variable == nullptr) continue;
    if (!IsFloat(variable->types[0].dtype)) continue;
    wanted.push_back(variable->out());
    numbers.push_back(i);
  }
  MXC_ASSIGN(const std::vector<Value> gradients,
             Gradients(copy.graph, given, wanted));
  pullback.gradients.resize(needed.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    pullback.gradients[numbers[i]] = gradients[i];
  }
  pullback.graph = std::move(copy.graph);
  AddWholeNumbers(pullback, outputs, variables, heads, needed);
  return pullback;
}

}  // namespace mxc
