// SPDX-License-Identifier: Apache-2.0
// bound-shapes: of an axis whose length data decide, as boolean_mask's, readers
// use the entries that there are.
//
//   data, index ─► boolean_mask ─► log ─► sum ─► y
//   ⇒  data, index ─► boolean_mask ─► log ─► _cut ─► sum ─► y
//                              └─ count ──────┘
//
// The axis has its greatest extent. What computes each entry for itself computes
// those that do not count, too; a reduction over the axis reads its neutral
// element instead of them, a mean divides by the count. An output of the network
// with such an axis is followed by its count. Other readers are refused.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/cut.h"
#include "ir/ops/tensor/reduction.h"
#include "passes/open_length.h"
#include "passes/passes.h"

namespace mxc {
namespace {

struct Length {
  int axis = 0;
  Value count;  // i32[1]
};

class Lengths {
 public:
  explicit Lengths(Graph& graph) : graph_(graph) {}

  Result<bool> Run() {
    for (Node* node : graph_.TopologicalOrder()) {
      replaced_.ApplyTo(*node);
      if (node->kind != Node::Kind::kOperator) continue;
      const std::vector<OpenInput> open = OpenInputsOf(*node);
      if (!open.empty()) {
        Visit(*node, open);
      } else if (node->op->data_length) {
        Begin(*node, node->op->data_length(node->attrs.get()));
      }
    }
    if (lengths_.empty()) return false;
    graph_.ReplaceUses(replaced_);
    NameCounts();
    if (!errors_.empty()) return std::move(errors_);
    return true;
  }

 private:
  using Slot = std::pair<int, int>;  // node id, output
  // An operator, its attributes, the inputs that decide.
  using Decision =
      std::tuple<const Operator*, std::vector<AttrText>, std::vector<Slot>>;
  static Slot SlotOf(Value value) { return {value.node->id(), value.index}; }

  const Length* LengthOf(Value value) const {
    const auto found = lengths_.find(SlotOf(value));
    return found == lengths_.end() ? nullptr : &found->second;
  }

  std::vector<OpenInput> OpenInputsOf(const Node& node) const {
    std::vector<OpenInput> open;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Length* length = LengthOf(node.inputs[i]);
      if (length) open.push_back({static_cast<int>(i), length->axis});
    }
    return open;
  }

  // What one operator makes of equal values has one length, so that rows which
  // one mask picks of two tensors may be added.
  void Begin(Node& node, const DataLength& length) {
    Decision decision = {node.op, node.op->print(node.attrs.get()), {}};
    for (const int input : length.by) {
      std::get<2>(decision).push_back(SlotOf(node.inputs[input]));
    }
    const auto [first, added] =
        counts_.emplace(std::move(decision), node.out(length.count));
    for (size_t i = 0; i < length.axes.size(); ++i) {
      if (length.axes[i] < 0) continue;
      lengths_[SlotOf(node.out(static_cast<int>(i)))] = {length.axes[i],
                                                         first->second};
    }
  }

  void Visit(Node& node, const std::vector<OpenInput>& open) {
    const Value count = LengthOf(node.inputs[open[0].input])->count;
    for (const OpenInput& o : open) {
      if (LengthOf(node.inputs[o.input])->count == count) continue;
      errors_.push_back(
          Error(node.loc,
                "{} '{}' reads values of different lengths, which "
                "different masks decide",
                node.op_name, node.name));
      return;
    }
    if (node.op == &OperatorOf<op::Mean>() && Averages(node, open[0].axis)) {
      return Average(node, count, open[0].axis);
    }
    std::optional<LengthUse> use;
    if (!node.IsLossHead()) use = UseOfLength(graph_, node, open);
    if (!use) return Refuse(node, open[0]);
    if (use->neutral) {
      for (const OpenInput& o : open) {
        node.inputs[o.input] =
            Cut(node, node.inputs[o.input], count, o.axis, *use->neutral);
      }
    }
    for (size_t i = 0; i < use->axes.size(); ++i) {
      if (use->axes[i] < 0) continue;
      lengths_[SlotOf(node.out(static_cast<int>(i)))] = {use->axes[i], count};
    }
  }

  void Refuse(const Node& node, const OpenInput& open) {
    errors_.push_back(
        Error(node.loc,
              "{} '{}' reads axis {} of '{}', whose length data decide, "
              "neither entry "
              "by entry nor as a sum, mean, product or extremum over all of it",
              node.op_name, node.name, open.axis,
              node.inputs[open.input].node->name));
  }

  Value Cut(const Node& node, Value value, Value count, int axis,
            double neutral) {
    GraphBuilder builder(graph_, node);
    return builder.Op<op::Cut>({value, count},
                               {.axis = axis, .neutral = neutral});
  }

  static bool Averages(const Node& node, int axis) {
    const Shape& shape = node.inputs[0].shape();
    const auto axes = ReducedAxes(node.As<ReductionAttrs>(), shape.rank());
    return std::ranges::binary_search(axes, axis) &&
           IsFloat(node.types[0].dtype);
  }

  // The sum of the entries, divided by how many elements they have.
  void Average(Node& node, Value count, int axis) {
    const auto& attrs = node.As<ReductionAttrs>();
    const Shape& shape = node.inputs[0].shape();
    GraphBuilder builder(graph_, node);
    const Value cut = Cut(node, node.inputs[0], count, axis, 0);
    const Value sum = builder.Op<op::Sum>({cut}, attrs);
    const int64_t each = ReducedCount(attrs, shape) / shape[axis];
    const Value elements = builder.Mul(builder.Cast(count, node.types[0].dtype),
                                       static_cast<double>(each));
    replaced_.Add(node.out(), builder.Div(sum, elements));
  }

  void NameCounts() {
    const size_t outputs = graph_.outputs.size();
    for (size_t i = 0; i < outputs; ++i) {
      const Length* length = LengthOf(graph_.outputs[i]);
      if (length == nullptr) continue;
      if (length->axis == 0) {
        graph_.AddOutput(length->count,
                         {TensorRole::kCount, graph_.output_names[i]});
        continue;
      }
      errors_.push_back(Error(graph_.outputs[i].node->loc,
                              "data decide the length of axis {} of output "
                              "'{}', expected of axis 0",
                              length->axis, graph_.output_names[i]));
    }
  }

  Graph& graph_;
  Replacements replaced_;
  std::map<Slot, Length> lengths_;
  std::map<Decision, Value> counts_;
  Diagnostics errors_;
};

}  // namespace

Result<bool> BoundShapes(Graph& graph, PassContext&) {
  return Lengths(graph).Run();
}

}  // namespace mxc
