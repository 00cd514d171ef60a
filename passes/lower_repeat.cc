// SPDX-License-Identifier: Apache-2.0
#include "passes/lower_repeat.h"

#include <algorithm>
#include <utility>

#include "ir/graph/scan_form.h"
#include "ir/program/add_buffer.h"
#include "passes/order_buffers.h"

namespace mxc {
namespace {

class RepeatLowering {
 public:
  RepeatLowering(const Node& node, const std::vector<bool>& read,
                 PassContext& context, Program& program, Step& step)
      : node_(node),
        read_(read),
        context_(context),
        program_(program),
        step_(step),
        form_(node.op->scan(node.attrs.get())) {}

  Status Run() {
    auto text =
        std::make_shared<SourceFile>(SourceFile{node_.name, form_.body});
    MXC_ASSIGN(Graph graph, ParseGraph(std::move(text)));
    ChooseOperands();
    BindConstants(graph);
    KeepOutputs(graph);
    MXC_ASSIGN(Program body, context_.lower_inside(std::move(graph)));
    PutWindowsFirst(body);
    MakeStates(body);
    SetStep(std::move(body));
    return Done{};
  }

 private:
  bool IsConstant(int input) const {
    return input >= form_.slices + form_.carried &&
           node_.inputs[input].node->kind == Node::Kind::kConstant;
  }
  bool IsCarried(int output) const { return output < form_.carried; }

  static std::string InputName(int input) {
    return "arg" + std::to_string(input);
  }

  void ChooseOperands() {
    for (int i = 0; i < static_cast<int>(node_.inputs.size()); ++i) {
      if (!IsConstant(i)) inputs_.push_back(i);
    }
    for (int i = 0; i < static_cast<int>(node_.types.size()); ++i) {
      if (read_[i] || IsCarried(i)) outputs_.push_back(i);
    }
  }

  void BindConstants(Graph& graph) const {
    Replacements bound;
    for (int i = 0; i < static_cast<int>(node_.inputs.size()); ++i) {
      Node* variable = graph.FindVariable(InputName(i));
      variable->declared = !IsConstant(i);
      if (variable->declared) continue;
      const Node& constant = *node_.inputs[i].node;
      bound.Add(variable->out(),
                graph.AddConstant(constant.name, constant.constant)->out());
    }
    graph.ReplaceUses(bound);
    graph.RemoveDeadNodes();
  }

  void KeepOutputs(Graph& graph) const {
    std::vector<Value> outputs;
    graph.output_names.clear();
    for (const int i : outputs_) {
      outputs.push_back(graph.outputs[i]);
      graph.output_names.push_back("output" + std::to_string(i));
    }
    graph.outputs = std::move(outputs);
  }

  // Buffer i of the body is operand i of the step.
  void PutWindowsFirst(Program& body) const {
    std::vector<int> order;
    const auto take = [&](const std::string& name, BufferKind kind) {
      for (const int b : body.BuffersOf(kind)) {
        if (body.buffers[b].name == name) order.push_back(b);
      }
    };
    for (const int i : inputs_) take(InputName(i), BufferKind::kInput);
    for (const int i : outputs_) {
      take("output" + std::to_string(i), BufferKind::kOutput);
    }
    MXC_CHECK(order.size() == inputs_.size() + outputs_.size(), "'{}'",
              node_.name);
    for (int b = 0; b < static_cast<int>(body.buffers.size()); ++b) {
      if (std::ranges::count(order, b) == 0) order.push_back(b);
    }
    OrderBuffers(body, order);
  }

  // Where nobody reads all turns, the last one's is all there is.
  bool IsStacked(int output) const {
    return form_.stacked[output] && read_[output];
  }

  // The operands of carry `k`. Of carried outputs none is dropped.
  Repeat::Carry CarryOf(int k) const {
    const auto input = std::ranges::find(inputs_, form_.slices + k);
    return {static_cast<int>(input - inputs_.begin()),
            static_cast<int>(inputs_.size()) + k};
  }

  void MakeStates(Program& body) const {
    for (int k = 0; k < form_.carried; ++k) {
      if (IsStacked(k)) continue;
      const Repeat::Carry carry = CarryOf(k);
      body.buffers[carry.input].kind = BufferKind::kState;
      body.buffers[carry.output].kind = BufferKind::kNextState;
      body.buffers[carry.output].state = carry.input;
    }
  }

  void SetStep(Program body) {
    Repeat repeat;
    repeat.turns = form_.turns;
    repeat.reversed = form_.reversed;
    std::vector<int> inputs, outputs;
    for (const int i : inputs_) {
      inputs.push_back(step_.inputs[i]);
      repeat.sliced.push_back(i < form_.slices);
    }
    for (int k = 0; k < form_.carried; ++k) {
      repeat.carries.push_back(CarryOf(k));
    }
    for (const int i : outputs_) {
      repeat.sliced.push_back(IsStacked(i));
      int& output = step_.outputs[i];
      if (form_.stacked[i] && !IsStacked(i)) {
        output = AddBuffer(program_, step_.name + "/last",
                           body.buffers[repeat.sliced.size() - 1].type);
      }
      outputs.push_back(output);
    }
    outputs.push_back(
        AddBuffer(program_, step_.name + "/workspace", {DType::kU8, Shape{1}}));
    repeat.body = std::make_shared<const Program>(std::move(body));
    step_.inputs = std::move(inputs);
    step_.outputs = std::move(outputs);
    step_.body = std::move(repeat);
  }

  const Node& node_;
  const std::vector<bool>& read_;
  PassContext& context_;
  Program& program_;
  Step& step_;
  const ScanForm form_;
  std::vector<int> inputs_, outputs_;  // of the node that the step keeps
};

}  // namespace

Status LowerRepeat(const Node& node, const std::vector<bool>& read,
                   PassContext& context, Program& program, Step& step) {
  return RepeatLowering(node, read, context, program, step).Run();
}

}  // namespace mxc
