// SPDX-License-Identifier: Apache-2.0
// bound-shapes: of an axis whose length data decide, as boolean_mask's, or the
// caller, as that of a text, readers use the entries that there are.
//
//   data, index ─► boolean_mask ─► log ─► sum ─► y
//   ⇒  data, index ─► boolean_mask ─► log ─► _cut ─► sum ─► y
//                              └─ count ──────┘
//
// The axis has its greatest extent. What computes each entry for itself computes
// those that do not count, too; a reduction over the axis reads its neutral
// element instead of them, a mean divides by the count. An output of the network
// with such an axis is followed by its count. Other readers are refused.
//
// Where the user says how many rows there are at most (--bound), there is room for
// these alone, and a run in which there are more ends with an error:
//
//   data, index ─► boolean_mask ─► slice_axis [0, 16) ─► log …
//                              └─ count ─► bounded(most=16)
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/graph/counted_form.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/control/call.h"
#include "ir/ops/tensor/indexing/cut.h"
#include "passes/open_length.h"
#include "passes/passes.h"

namespace mxc {
namespace {

struct Length {
  std::vector<OpenAxis> axes;
  Value count;  // i32[1]
  int64_t most = 0;
};

class Lengths {
 public:
  // `learns`: losses are computed, of all entries.
  Lengths(Graph& graph, const std::map<std::string, int64_t>& bounds,
          bool learns)
      : graph_(graph), bounds_(bounds), learns_(learns) {}

  Result<bool> Run() {
    BeginInputs();
    for (Node* node : graph_.TopologicalOrder()) {
      replaced_.ApplyTo(*node);
      TakeRoom(node->inputs);
      if (node->kind != Node::Kind::kOperator) continue;
      if (!room_.empty() && !TakeTypes(*node)) continue;
      const std::vector<OpenInput> open = OpenInputsOf(*node);
      if (!open.empty()) {
        Visit(*node, open);
      } else if (node->op->data_length) {
        Begin(*node, node->op->data_length(node->attrs.get()));
      }
    }
    if (lengths_.empty()) return false;
    graph_.ReplaceUses(replaced_);
    TakeRoom(graph_.outputs);
    NameCounts();
    if (!errors_.empty()) return std::move(errors_);
    return true;
  }

 private:
  using Slot = std::pair<int, int>;  // node id, output
  // An operator, its attributes, the inputs that decide, what is room for.
  using Decision = std::tuple<const Operator*, std::vector<AttrText>,
                              std::vector<Slot>, int64_t>;
  static Slot SlotOf(Value value) { return {value.node->id(), value.index}; }

  const Length* LengthOf(Value value) const {
    const auto found = lengths_.find(SlotOf(value));
    return found == lengths_.end() ? nullptr : &found->second;
  }

  std::vector<OpenInput> OpenInputsOf(const Node& node) const {
    std::vector<OpenInput> open;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Length* length = LengthOf(node.inputs[i]);
      if (length == nullptr) continue;
      for (const OpenAxis& axis : length->axes) {
        open.push_back({axis, static_cast<int>(i)});
      }
    }
    return open;
  }

  // Inputs with an axis whose length the caller decides, all the same.
  void BeginInputs() {
    std::vector<Node*> inputs;
    bool named = false;
    for (Node* input : graph_.Variables(VariableRole::kInput)) {
      if (input->use.open_axis >= 0) inputs.push_back(input);
      named = named || input->use.role == TensorRole::kLength;
    }
    if (inputs.empty() || named) return;
    const TensorUse use = {.role = TensorRole::kLength};
    length_ = graph_.AddVariable(NameOf(use));
    length_->use = use;
    length_->declared = true;
    length_->types = {{.dtype = DType::kI32, .shape = Shape{1}}};
    for (Node* input : inputs) {
      const int axis = input->use.open_axis;
      lengths_[SlotOf(input->out())] = {
          {{axis}}, length_->out(), input->types[0].shape[axis]};
    }
  }

  // What one operator makes of equal values has one length, so that rows which
  // one mask picks of two tensors may be added.
  void Begin(Node& node, const DataLength& length) {
    const int64_t most = MakeRoom(node, length);
    Decision decision = {node.op, node.op->print(node.attrs.get()), {}, most};
    for (const int input : length.by) {
      std::get<2>(decision).push_back(SlotOf(node.inputs[input]));
    }
    const auto [first, added] =
        counts_.emplace(std::move(decision), node.out(length.count));
    if (added && most > 0) {
      GraphBuilder builder(graph_, node);
      first->second = CallOf(builder, "bounded", fmt::format("most={}", most),
                             {node.out(length.count)}, {Shape{1}})[0];
    }
    for (size_t i = 0; i < length.axes.size(); ++i) {
      if (length.axes[i] < 0) continue;
      const Value rows = node.out(static_cast<int>(i));
      const int axis = length.axes[i];
      const Value room = RoomFor(rows);
      lengths_[SlotOf(room)] = {{{axis}}, first->second, room.shape()[axis]};
    }
  }

  // Readers of the node read as many rows as there is room for, which is
  // returned; 0: all that there can be.
  int64_t MakeRoom(Node& node, const DataLength& length) {
    const auto bound = bounds_.find(node.name);
    if (bound == bounds_.end()) return 0;
    GraphBuilder builder(graph_, node);
    int64_t most = 0;
    for (size_t i = 0; i < length.axes.size(); ++i) {
      const int axis = length.axes[i];
      const Value rows = node.out(static_cast<int>(i));
      if (axis < 0 || rows.shape()[axis] <= bound->second) continue;
      most = bound->second;
      room_[SlotOf(rows)] = builder.SliceAxis(rows, axis, 0, most);
    }
    return most;
  }

  Value RoomFor(Value rows) const {
    const auto found = room_.find(SlotOf(rows));
    return found == room_.end() ? rows : found->second;
  }

  // The types that follow from what there is room for; false if none do.
  bool TakeTypes(Node& node) {
    std::vector<TensorType> inputs, outputs(node.types.size());
    for (const Value& input : node.inputs) inputs.push_back(input.type());
    const std::vector<TensorType> given = inputs;
    for (bool changed = true; changed;) {
      TypeInference types(inputs, outputs, graph_.training);
      node.op->types(node.attrs.get(), types);
      if (types.error()) {
        errors_.push_back(Error(node.loc, "{} '{}', with --bound: {}",
                                node.op_name, node.name, *types.error()));
        return false;
      }
      changed = types.changed();
    }
    const bool known = std::ranges::all_of(
        outputs, [](const TensorType& type) { return type.known(); });
    if (!known || inputs != given) {
      errors_.push_back(Error(node.loc,
                              "{} '{}' reads as many rows as there can be, not "
                              "as many as --bound leaves",
                              node.op_name, node.name));
      return false;
    }
    node.types = std::move(outputs);
    return true;
  }

  void TakeRoom(std::vector<Value>& values) const {
    for (Value& value : values) value = RoomFor(value);
  }

  void Visit(Node& node, const std::vector<OpenInput>& open) {
    const Length length = *LengthOf(node.inputs[open[0].input]);
    for (const OpenInput& o : open) {
      if (LengthOf(node.inputs[o.input])->count == length.count) continue;
      errors_.push_back(
          Error(node.loc,
                "{} '{}' reads values of different lengths, which "
                "different masks decide",
                node.op_name, node.name));
      return;
    }
    if (node.op->counted && TakeCountedForm(node, open, length)) return;
    std::optional<LengthUse> use;
    if (!learns_ || !node.IsLossHead()) {
      use =
          UseOfLength(graph_, node, open, length.most, IsCallers(length.count));
    }
    if (!use || use->least > LeastOf(length.count)) {
      return Refuse(node, open[0], length.count);
    }
    for (const OpenInput& o : use->reduced) {
      Cut(node, o, use->neutral, length);
    }
    for (size_t i = 0; i < use->axes.size(); ++i) {
      if (use->axes[i].empty()) continue;
      lengths_[SlotOf(node.out(static_cast<int>(i)))] = {
          use->axes[i], length.count, length.most};
    }
  }

  void Cut(Node& node, const OpenInput& open, double neutral,
           const Length& length) {
    GraphBuilder builder(graph_, node);
    Value& input = node.inputs[open.input];
    const bool one = input.shape()[open.axis] == length.most;
    input = builder.Op<op::Cut>({input, length.count},
                                {.axis = open.axis,
                                 .neutral = neutral,
                                 .inner = open.inner,
                                 .length = one ? 0 : length.most});
  }

  // Of axes that are one sequence.
  bool TakeCountedForm(Node& node, const std::vector<OpenInput>& open,
                       const Length& length) {
    std::vector<int> axes(node.inputs.size(), -1);
    for (const OpenInput& o : open) {
      int& axis = axes[static_cast<size_t>(o.input)];
      const Shape& shape = node.inputs[o.input].shape();
      if (axis >= 0 || shape[o.axis] != length.most) return false;
      axis = o.axis;
    }
    GraphBuilder builder(graph_, node);
    const CountedForm form =
        node.op->counted(node.attrs.get(), node, axes, length.count, builder);
    if (form.least > LeastOf(length.count)) return false;
    for (size_t i = 0; i < form.outputs.size(); ++i) {
      replaced_.Add(node.out(static_cast<int>(i)), form.outputs[i]);
      if (form.axes[i] < 0) continue;
      lengths_[SlotOf(form.outputs[i])] = {
          {{form.axes[i]}}, length.count, length.most};
    }
    return !form.outputs.empty();
  }

  bool IsCallers(Value count) const {
    return length_ != nullptr && count.node == length_;
  }
  // Entries that there are in any case: data may decide on none.
  int64_t LeastOf(Value count) const { return IsCallers(count) ? 1 : 0; }

  void Refuse(const Node& node, const OpenInput& open, Value count) {
    errors_.push_back(Error(
        node.loc,
        "{} '{}' reads axis {} of '{}', whose length {}, neither entry "
        "by entry nor as a sum, mean, product or extremum over all of it{}",
        node.op_name, node.name, open.axis, node.inputs[open.input].node->name,
        IsCallers(count) ? "is open" : "data decide",
        IsCallers(count) ? "; --bucket names lengths one by one" : ""));
  }

  void NameCounts() {
    const size_t outputs = graph_.outputs.size();
    graph_.output_uses.resize(outputs);
    for (size_t i = 0; i < outputs; ++i) {
      const Length* length = LengthOf(graph_.outputs[i]);
      if (length == nullptr) continue;
      const bool callers = IsCallers(length->count);
      if (length->axes.size() == 1 && callers) {
        graph_.output_uses[i].open_axis = length->axes[0].axis;
        graph_.output_uses[i].open_inner = length->axes[0].inner;
      } else if (length->axes == std::vector<OpenAxis>{{}}) {
        graph_.AddOutput(length->count,
                         {TensorRole::kCount, graph_.output_names[i]});
      } else {
        errors_.push_back(
            Error(graph_.outputs[i].node->loc,
                  "{} the length of axis {} of output '{}', expected of {}",
                  callers ? "the caller decides" : "data decide",
                  length->axes.back().axis, graph_.output_names[i],
                  callers ? "one axis alone" : "axis 0"));
      }
    }
  }

  Graph& graph_;
  const std::map<std::string, int64_t>& bounds_;
  const bool learns_;
  Node* length_ = nullptr;  // of the axes that the caller decides
  Replacements replaced_;
  std::map<Slot, Length> lengths_;
  std::map<Slot, Value>
      room_;  // of outputs with a bound, what their readers read
  std::map<Decision, Value> counts_;
  Diagnostics errors_;
};

}  // namespace

Result<bool> BoundShapes(Graph& graph, PassContext& context) {
  return Lengths(graph, context.bounds, context.training != nullptr).Run();
}

}  // namespace mxc
