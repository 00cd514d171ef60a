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
// Lengths that the caller decides under several names are looked at one by one, each
// as if the others were extents; what has entries of two along one axis, or adds them
// up with each other, is refused.
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
#include <set>
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

// The axes of a value that have one length.
struct Length {
  std::vector<OpenAxis> axes;
  Value count;  // i32[1]
  int64_t most = 0;
};

// The inputs of a node that have one length, by their axes.
struct OpenInputs {
  std::vector<OpenInput> open;
  Value count;
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
      const std::vector<OpenInputs> open = OpenInputsOf(*node);
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

  const std::vector<Length>& LengthsOf(Value value) const {
    static const std::vector<Length> none;
    const auto found = lengths_.find(SlotOf(value));
    return found == lengths_.end() ? none : found->second;
  }

  void Add(Value value, Length length) {
    std::vector<Length>& all = lengths_[SlotOf(value)];
    const auto same = std::ranges::find(all, length.count, &Length::count);
    if (same == all.end()) {
      all.push_back(std::move(length));
    } else {
      *same = std::move(length);
    }
  }

  std::vector<OpenInputs> OpenInputsOf(const Node& node) const {
    std::vector<OpenInputs> all;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      for (const Length& length : LengthsOf(node.inputs[i])) {
        auto at = std::ranges::find(all, length.count, &OpenInputs::count);
        if (at == all.end()) {
          at = all.insert(at, {{}, length.count, length.most});
        }
        for (const OpenAxis& axis : length.axes) {
          at->open.push_back({axis, static_cast<int>(i)});
        }
      }
    }
    return all;
  }

  // Inputs with axes whose lengths the caller decides, and those that say how long.
  void BeginInputs() {
    std::vector<Node*> inputs;
    std::map<std::string, int64_t> most;
    for (Node* input : graph_.Variables(VariableRole::kInput)) {
      if (input->use.role == TensorRole::kLength) return;
      inputs.push_back(input);
      for (const LengthAxis& open : input->use.open) {
        most[open.length] = input->types[0].shape[open.axis];
      }
    }
    for (const auto& [name, extent] : most) {
      const TensorUse use = {.role = TensorRole::kLength, .of = name};
      Node* length = graph_.AddVariable(NameOf(use));
      length->use = use;
      length->declared = true;
      length->types = {{.dtype = DType::kI32, .shape = Shape{1}}};
      names_[length] = name;
      for (Node* input : inputs) {
        std::vector<OpenAxis> axes;
        for (const LengthAxis& open : input->use.open) {
          if (open.length == name) axes.push_back({open.axis});
        }
        if (!axes.empty()) Add(input->out(), {axes, length->out(), extent});
      }
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
      Add(room, {{{axis}}, first->second, room.shape()[axis]});
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

  // What a node makes of each of its lengths by itself.
  void Visit(Node& node, const std::vector<OpenInputs>& all) {
    const bool apart = std::ranges::all_of(
        all, [&](const OpenInputs& one) { return IsCallers(one.count); });
    if (all.size() > 1 && !apart) {
      errors_.push_back(
          Error(node.loc,
                "{} '{}' reads values of different lengths, which "
                "different masks decide",
                node.op_name, node.name));
      return;
    }
    if (all.size() == 1 && node.op->counted &&
        TakeCountedForm(node, all[0], {})) {
      return;
    }
    std::vector<LengthUse> uses;
    const OpenInputs* counted = nullptr;
    for (const OpenInputs& one : all) {
      auto use = UseOf(node, one);
      if (use) {
        uses.push_back(std::move(*use));
      } else if (all.size() > 1 && node.op->counted && counted == nullptr) {
        counted = &one;
        uses.emplace_back();
      } else {
        return Refuse(node, one.open[0], one.count);
      }
    }
    if (MeetsAnother(node, all, uses)) return;
    if (counted != nullptr) return VisitCounted(node, all, uses, *counted);
    for (size_t k = 0; k < all.size(); ++k) {
      for (const OpenInput& o : uses[k].reduced) {
        Cut(node, o, uses[k].neutral, all[k]);
      }
      AddAxes(node, uses[k], all[k]);
    }
  }

  std::optional<LengthUse> UseOf(const Node& node, const OpenInputs& one) {
    if (learns_ && node.IsLossHead()) return std::nullopt;
    auto use =
        UseOfLength(graph_, node, one.open, one.most, IsCallers(one.count));
    if (use && use->least > LeastOf(one.count)) return std::nullopt;
    return use;
  }

  void AddAxes(Node& node, const LengthUse& use, const OpenInputs& one) {
    for (size_t i = 0; i < use.axes.size(); ++i) {
      if (use.axes[i].empty()) continue;
      Add(node.out(static_cast<int>(i)), {use.axes[i], one.count, one.most});
    }
  }

  // A form that counts by one of the lengths leaves the entries along others what
  // they are.
  void VisitCounted(Node& node, const std::vector<OpenInputs>& all,
                    const std::vector<LengthUse>& uses,
                    const OpenInputs& counted) {
    std::vector<std::pair<const OpenInputs*, const LengthUse*>> others;
    bool reduces = false;
    for (size_t k = 0; k < all.size(); ++k) {
      if (&all[k] == &counted) continue;
      others.emplace_back(&all[k], &uses[k]);
      reduces = reduces || !uses[k].reduced.empty();
    }
    if (reduces || !TakeCountedForm(node, counted, others)) {
      Refuse(node, counted.open[0], counted.count);
    }
  }

  // Returns whether entries of one length would lie along one axis with those of
  // another, or be reduced with them.
  static bool Meet(const LengthUse& a, const LengthUse& b) {
    for (size_t i = 0; i < std::min(a.axes.size(), b.axes.size()); ++i) {
      for (const OpenAxis& axis : a.axes[i]) {
        if (std::ranges::count(b.axes[i], axis.axis, &OpenAxis::axis) > 0) {
          return true;
        }
      }
    }
    std::set<int> of_a, of_b;  // inputs
    for (const OpenInput& o : a.reduced) of_a.insert(o.input);
    for (const OpenInput& o : b.reduced) of_b.insert(o.input);
    return !of_a.empty() && !of_b.empty() && of_a != of_b;
  }

  // Refuses what has lengths together that a caller may make different.
  bool MeetsAnother(const Node& node, const std::vector<OpenInputs>& all,
                    const std::vector<LengthUse>& uses) {
    for (size_t a = 0; a < uses.size(); ++a) {
      for (size_t b = a + 1; b < uses.size(); ++b) {
        if (!Meet(uses[a], uses[b])) continue;
        errors_.push_back(Error(
            node.loc,
            "{} '{}' has entries of the lengths '{}' and '{}' along one axis, "
            "and these may be different",
            node.op_name, node.name, NameOfLength(all[a].count),
            NameOfLength(all[b].count)));
        return true;
      }
    }
    return false;
  }

  void Cut(Node& node, const OpenInput& open, double neutral,
           const OpenInputs& length) {
    GraphBuilder builder(graph_, node);
    Value& input = node.inputs[open.input];
    const bool one = input.shape()[open.axis] == length.most;
    input = builder.Op<op::Cut>({input, length.count},
                                {.axis = open.axis,
                                 .neutral = neutral,
                                 .inner = open.inner,
                                 .length = one ? 0 : length.most});
  }

  // Of axes that are one sequence. `others`: lengths that the node's outputs have
  // beside it.
  bool TakeCountedForm(
      Node& node, const OpenInputs& one,
      const std::vector<std::pair<const OpenInputs*, const LengthUse*>>&
          others) {
    std::vector<int> axes(node.inputs.size(), -1);
    for (const OpenInput& o : one.open) {
      int& axis = axes[static_cast<size_t>(o.input)];
      const Shape& shape = node.inputs[o.input].shape();
      if (axis >= 0 || shape[o.axis] != one.most) return false;
      axis = o.axis;
    }
    GraphBuilder builder(graph_, node);
    const CountedForm form =
        node.op->counted(node.attrs.get(), node, axes, one.count, builder);
    if (form.least > LeastOf(one.count)) return false;
    for (size_t i = 0; i < form.outputs.size(); ++i) {
      const Value output = form.outputs[i];
      replaced_.Add(node.out(static_cast<int>(i)), output);
      if (form.axes[i] >= 0)
        Add(output, {{{form.axes[i]}}, one.count, one.most});
      for (const auto& [other, use] : others) {
        if (use->axes[i].empty()) continue;
        Add(output, {use->axes[i], other->count, other->most});
      }
    }
    return !form.outputs.empty();
  }

  bool IsCallers(Value count) const { return names_.contains(count.node); }
  // As the network has it; "": the only one.
  std::string NameOfLength(Value count) const { return names_.at(count.node); }
  // Entries that there are in any case: data may decide on none.
  int64_t LeastOf(Value count) const { return IsCallers(count) ? 1 : 0; }

  void Refuse(const Node& node, const OpenInput& open, Value count) {
    std::string whose = "data decide";
    if (IsCallers(count)) {
      const std::string name = NameOfLength(count);
      whose = name.empty() ? "is open" : fmt::format("'{}' is open", name);
    }
    errors_.push_back(Error(
        node.loc,
        "{} '{}' reads axis {} of '{}', whose length {}, neither entry "
        "by entry nor as a sum, mean, product or extremum over all of it{}",
        node.op_name, node.name, open.axis, node.inputs[open.input].node->name,
        whose, IsCallers(count) ? "; --bucket names lengths one by one" : ""));
  }

  void NameCounts() {
    const size_t outputs = graph_.outputs.size();
    graph_.output_uses.resize(outputs);
    for (size_t i = 0; i < outputs; ++i) {
      for (const Length& length : LengthsOf(graph_.outputs[i])) {
        NameCount(i, length);
      }
    }
  }

  void NameCount(size_t output, const Length& length) {
    if (IsCallers(length.count)) {
      for (const OpenAxis& axis : length.axes) {
        graph_.output_uses[output].open.push_back(
            {axis.axis, axis.inner, NameOfLength(length.count)});
      }
    } else if (length.axes == std::vector<OpenAxis>{{}}) {
      graph_.AddOutput(length.count,
                       {TensorRole::kCount, graph_.output_names[output]});
    } else {
      errors_.push_back(
          Error(graph_.outputs[output].node->loc,
                "data decide the length of axis {} of output '{}', expected of "
                "axis 0",
                length.axes.back().axis, graph_.output_names[output]));
    }
  }

  Graph& graph_;
  const std::map<std::string, int64_t>& bounds_;
  const bool learns_;
  std::map<const Node*, std::string>
      names_;  // of lengths that the caller decides
  Replacements replaced_;
  std::map<Slot, std::vector<Length>> lengths_;
  std::map<Slot, Value> room_;  // of outputs with a bound, what is read of them
  std::map<Decision, Value> counts_;
  Diagnostics errors_;
};

}  // namespace

Result<bool> BoundShapes(Graph& graph, PassContext& context) {
  return Lengths(graph, context.bounds, context.training != nullptr).Run();
}

}  // namespace mxc
