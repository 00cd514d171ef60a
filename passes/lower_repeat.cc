// SPDX-License-Identifier: Apache-2.0
#include "passes/lower_repeat.h"

#include <algorithm>
#include <utility>

#include "ir/graph/scan_form.h"
#include "ir/program/add_buffer.h"
#include "ir/program/steps/map.h"
#include "ir/program/steps/repeat.h"
#include "passes/lower_inner.h"

namespace mxc {
namespace {

class RepeatLowering {
 public:
  RepeatLowering(const Node& node, const std::vector<bool>& read,
                 PassContext& context, Program& program, Step step)
      : node_(node),
        read_(read),
        context_(context),
        program_(program),
        step_(std::move(step)),
        form_(node.op->scan(node.attrs.get())) {}

  Status Run() {
    MXC_ASSIGN(const Graph turn, TurnOf(form_, node_.inputs));
    results_ = step_.outputs;
    if (form_.conditional) count_ = results_[1];
    if (form_.counted) count_ = step_.inputs.back();
    ChooseOperands();
    MXC_ASSIGN(Program body,
               LowerInner(node_, Print(turn), {inputs_, outputs_}, context_));
    MakeStates(body);
    SetStep(std::move(body));
    program_.steps.push_back(step_);
    for (int k = 0; k < form_.carried; ++k) {
      if (HasHistory(k) && read_[k]) TakeLast(k);
    }
    for (const auto& [rows, stack] : cut_) ClearRows(rows, stack);
    return Done{};
  }

 private:
  bool IsConstant(int input) const {
    return input >= form_.slices + form_.carried && !IsCount(input) &&
           node_.inputs[input].node->kind == Node::Kind::kConstant;
  }
  bool IsCount(int input) const {
    return form_.counted && input + 1 == std::ssize(node_.inputs);
  }
  // Where nobody reads it, what is carried lies in one place.
  bool HasHistory(int k) const {
    return k < form_.histories() && read_[form_.history(k)];
  }

  // No carried output is dropped.
  void ChooseOperands() {
    for (int i = 0; i < static_cast<int>(node_.inputs.size()); ++i) {
      if (!IsConstant(i)) inputs_.push_back(i);
    }
    for (int i = 0; i < form_.carried + form_.stacks; ++i) {
      if (i < form_.carried || read_[i]) outputs_.push_back(i);
    }
  }

  // The operands of carry `k`.
  Repeat::Carry CarryOf(int k) const {
    const auto input = std::ranges::find(inputs_, form_.slices + k);
    return {static_cast<int>(input - inputs_.begin()),
            static_cast<int>(inputs_.size()) + k};
  }

  void MakeStates(Program& body) const {
    for (int k = 0; k < form_.carried; ++k) {
      if (HasHistory(k)) continue;
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
      if (IsCount(i)) repeat.count = static_cast<int>(inputs.size()) - 1;
    }
    for (int k = 0; k < form_.carried; ++k) {
      repeat.carries.push_back(CarryOf(k));
    }
    if (form_.conditional) repeat.condition = repeat.carries[0].output;
    for (const int i : outputs_) {
      const bool carried = i < form_.carried;
      const bool history = carried && HasHistory(i);
      repeat.sliced.push_back(history || !carried);
      const int output = results_[history ? form_.history(i) : i];
      outputs.push_back(carried || !repeat.may_end_early() ? output
                                                           : RowsOf(output));
    }
    outputs.push_back(
        AddBuffer(program_, step_.name + "/workspace", {DType::kU8, Shape{1}}));
    repeat.body = std::make_shared<const Program>(std::move(body));
    step_.inputs = std::move(inputs);
    step_.outputs = std::move(outputs);
    step_.body = std::move(repeat);
  }

  // The rows of a stack that the turns write.
  int RowsOf(int stack) {
    const Buffer& buffer = program_.buffers[stack];
    const int rows = AddBuffer(program_, buffer.name + "/rows", buffer.type);
    cut_.emplace_back(rows, stack);
    return rows;
  }

  // The last turn's part of a history.
  void TakeLast(int k) {
    const int last = results_[k];
    Expr slice(form_.reversed ? 0 : form_.turns);
    if (form_.conditional) {
      const Expr count = Load(1, DType::kI64, {Expr(0)});
      slice = form_.reversed ? Expr(form_.turns) - count : count;
    }
    std::vector<Expr> index = {slice};
    for (int axis = 0; axis < program_.buffers[last].type.shape.rank();
         ++axis) {
      index.push_back(Var(axis));
    }
    AddMap(results_[form_.history(k)], last,
           [&](DType dtype) { return Load(0, dtype, index); });
  }

  // Zeros where a slice had no turn.
  void ClearRows(int rows, int stack) {
    const Expr slice = Var(0), count = Load(1, DType::kI64, {Expr(0)});
    const bool from_end = form_.reversed && form_.conditional;
    const Expr turn = from_end ? Expr(form_.turns - 1) - slice : slice;
    std::vector<Expr> index;
    for (int axis = 0; axis < program_.buffers[stack].type.shape.rank();
         ++axis) {
      index.push_back(Var(axis));
    }
    AddMap(rows, stack, [&](DType dtype) {
      return Select(turn < count, Load(0, dtype, index), Constant(0, dtype));
    });
  }

  // A step behind the repeat. It reads the count, too, where there is one.
  void AddMap(int from, int to, const std::function<Expr(DType)>& value) {
    const TensorType& type = program_.buffers[to].type;
    Step step;
    step.name = program_.buffers[to].name;
    step.origins = step_.origins;
    step.backward = step_.backward;
    step.loc = step_.loc;
    step.inputs = {from};
    if (count_ >= 0) step.inputs.push_back(count_);
    step.outputs = {to};
    step.body = Map{{Store{0, Extents(type.shape.rank(), 0), type.shape.dims(),
                           value(type.dtype)}}};
    program_.steps.push_back(std::move(step));
  }

  const Node& node_;
  const std::vector<bool>& read_;
  PassContext& context_;
  Program& program_;
  Step step_;
  const ScanForm form_;
  std::vector<int> results_;           // buffers of the node's outputs
  int count_ = -1;                     // the buffer, where it may end early
  std::vector<int> inputs_, outputs_;  // of the node and of a turn: the step's
  std::vector<std::pair<int, int>> cut_;  // stacks: rows of turns, and all
};

}  // namespace

Status LowerRepeat(const Node& node, const std::vector<bool>& read,
                   PassContext& context, Program& program, Step step) {
  return RepeatLowering(node, read, context, program, std::move(step)).Run();
}

}  // namespace mxc
