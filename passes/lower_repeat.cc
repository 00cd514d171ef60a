// SPDX-License-Identifier: Apache-2.0
#include "passes/lower_repeat.h"

#include <algorithm>
#include <utility>

#include "ir/graph/scan_form.h"
#include "ir/program/add_buffer.h"
#include "passes/lower_inner.h"

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
    ChooseOperands();
    MXC_ASSIGN(Program body,
               LowerInner(node_, form_.body, {inputs_, outputs_}, context_));
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

  void ChooseOperands() {
    for (int i = 0; i < static_cast<int>(node_.inputs.size()); ++i) {
      if (!IsConstant(i)) inputs_.push_back(i);
    }
    for (int i = 0; i < static_cast<int>(node_.types.size()); ++i) {
      if (read_[i] || IsCarried(i)) outputs_.push_back(i);
    }
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
