// SPDX-License-Identifier: Apache-2.0
#include "passes/open_length.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "ir/graph/builder.h"
#include "ir/program/definition.h"
#include "ir/program/evaluator.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

// The meaning of a node where its open axes have some extent.
struct Stated {
  std::vector<TensorType> outputs;
  std::vector<Store> stores;
};

std::optional<Stated> StateFor(const Node& node, bool training,
                               const std::vector<OpenInput>& open,
                               int64_t extent) {
  std::vector<TensorType> inputs;
  for (const Value& input : node.inputs) inputs.push_back(input.type());
  for (const OpenInput& o : open) inputs[o.input].shape[o.axis] = extent;
  const std::vector<TensorType> given = inputs;
  std::vector<TensorType> outputs(node.types.size());
  bool changed = true;
  while (changed) {
    TypeInference types(inputs, outputs, training);
    node.op->types(node.attrs.get(), types);
    if (types.error()) return std::nullopt;
    changed = types.changed();
  }
  const bool known = std::ranges::all_of(
      outputs, [](const TensorType& type) { return type.known(); });
  if (!known || inputs != given) return std::nullopt;
  Definition definition(inputs, outputs, training);
  node.op->meaning(node.attrs.get(), definition);
  return Stated{std::move(outputs), definition.stores()};
}

// The axis along which the shapes of an output differ; -1 where none does.
std::optional<int> AxisOf(const Shape& a, const Shape& b, int64_t extent) {
  if (a.rank() != b.rank()) return std::nullopt;
  int found = -1;
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a[axis] == b[axis]) continue;
    const bool own = a[axis] == extent && b[axis] == extent + 1;
    if (!own || found >= 0) return std::nullopt;
    found = axis;
  }
  return found;
}

// Compares the meanings for two extents, and notes the reductions that go over
// all of the axis.
class Comparison {
 public:
  explicit Comparison(int64_t extent) : extent_(extent) {}

  bool Same(const Expr& a, const Expr& b) {
    if (same_.contains({a.get(), b.get()})) return true;
    const bool alike = a->kind == b->kind && a->dtype == b->dtype &&
                       a->unary == b->unary && a->binary == b->binary &&
                       a->reduce == b->reduce && SameNumber(*a, *b) &&
                       a->args.size() == b->args.size() &&
                       a->ranges.size() == b->ranges.size();
    if (!alike || !SameIndex(*a, *b)) return false;
    for (size_t i = 0; i < a->ranges.size(); ++i) {
      if (!SameRange(a->ranges[i], b->ranges[i], *a)) return false;
    }
    for (size_t i = 0; i < a->args.size(); ++i) {
      if (!Same(a->args[i], b->args[i])) return false;
    }
    same_.emplace(a.get(), b.get());
    return true;
  }

  // Variables that run over the whole axis, with their reductions.
  const std::map<int, const ExprNode*>& whole() const { return whole_; }

 private:
  static bool SameNumber(const ExprNode& a, const ExprNode& b) {
    return a.number == b.number ||
           (a.number != a.number && b.number != b.number);
  }

  bool SameIndex(const ExprNode& a, const ExprNode& b) const {
    const auto bound = bound_.find(a.index);
    const bool var = a.kind == ExprKind::kVar && bound != bound_.end();
    return (var ? bound->second : a.index) == b.index;
  }

  bool SameRange(const Range& a, const Range& b, const ExprNode& reduction) {
    bound_[a.var] = b.var;
    if (!Same(a.begin, b.begin)) return false;
    if (IsConst(a.end, extent_) && IsConst(b.end, extent_ + 1)) {
      whole_[a.var] = &reduction;
      return true;
    }
    return Same(a.end, b.end);
  }

  const int64_t extent_;
  std::set<std::pair<const ExprNode*, const ExprNode*>> same_;
  std::map<int, int> bound_;  // variables of reductions, of a and of b
  std::map<int, const ExprNode*> whole_;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double NeutralOf(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return 0;
    case ReduceOp::kProduct:
      return 1;
    case ReduceOp::kMax:
      return -kInfinity;
    case ReduceOp::kMin:
      return kInfinity;
  }
  return 0;
}

class Uses {
 public:
  Uses(const std::vector<OpenInput>& open, int64_t extent)
      : open_(open), extent_(extent) {}

  std::optional<LengthUse> Of(const Stated& a, const Stated& b) {
    if (a.stores.size() != b.stores.size()) return std::nullopt;
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      const auto axis = AxisOf(a.outputs[i].shape, b.outputs[i].shape, extent_);
      if (!axis) return std::nullopt;
      use_.axes.push_back(*axis);
    }
    for (size_t i = 0; i < a.stores.size(); ++i) {
      if (!Add(a.stores[i], b.stores[i])) return std::nullopt;
    }
    return use_;
  }

 private:
  bool Add(const Store& a, const Store& b) {
    const int axis = use_.axes[static_cast<size_t>(a.output)];
    if (a.output != b.output || a.begin != b.begin) return false;
    for (size_t k = 0; k < a.extent.size(); ++k) {
      const bool own = static_cast<int>(k) == axis;
      const bool fits = own ? a.begin[k] == 0 && a.extent[k] == extent_ &&
                                  b.extent[k] == extent_ + 1
                            : a.extent[k] == b.extent[k];
      if (!fits) return false;
    }
    Comparison comparison(extent_);
    if (!comparison.Same(a.value, b.value)) return false;
    const auto& whole = comparison.whole();
    // An entry is read at its own index, or all of them are reduced.
    bool fits = whole.empty() || axis < 0;
    VisitLoads(a.value, [&](const ExprNode& load) {
      for (const OpenInput& o : open_) {
        if (load.index != o.input) continue;
        const Expr& at = load.args[static_cast<size_t>(o.axis)];
        fits = fits && at->kind == ExprKind::kVar &&
               (at->index == axis || whole.contains(at->index));
      }
    });
    for (const auto& [var, reduction] : whole) {
      fits = fits && NoteReduction(var, *reduction);
    }
    return fits;
  }

  // Returns whether what is behind the length can be made to change nothing.
  bool NoteReduction(int var, const ExprNode& reduction) {
    const double neutral = NeutralOf(reduction.reduce);
    if (use_.neutral.value_or(neutral) != neutral) return false;
    if (!IsFloat(reduction.dtype) && std::abs(neutral) == kInfinity) {
      return false;
    }
    const Expr behind = Rewrite(reduction.args[0], [&](const Expr& e) {
      const bool open =
          e->kind == ExprKind::kLoad &&
          std::ranges::any_of(open_, [&](const OpenInput& o) {
            const Expr& at =
                e->args[static_cast<size_t>(o.input == e->index ? o.axis : 0)];
            return o.input == e->index && at->kind == ExprKind::kVar &&
                   at->index == var;
          });
      return open ? Constant(neutral, e->dtype) : Expr();
    });
    if (HasLoads(behind) || !FreeVars(behind).empty()) return false;
    use_.neutral = neutral;
    return Evaluator({}).Evaluate(behind, 1, {})[0] == Element(neutral);
  }

  const std::vector<OpenInput>& open_;
  const int64_t extent_;
  LengthUse use_;
};

// What the parts of a node make of it.
std::optional<LengthUse> UseByParts(Graph& graph,
                                    const std::vector<OpenInput>& open,
                                    const Node& node,
                                    const std::vector<Value>& parts,
                                    size_t first) {
  std::map<std::pair<int, int>, int> axes;  // node, output: of the length
  for (const OpenInput& o : open) {
    const Value value = node.inputs[static_cast<size_t>(o.input)];
    axes[{value.node->id(), value.index}] = o.axis;
  }
  const auto axis_of = [&](Value value) {
    const auto found = axes.find({value.node->id(), value.index});
    return found == axes.end() ? -1 : found->second;
  };
  const size_t end = graph.nodes().size();
  for (size_t i = first; i < end; ++i) {
    const Node& part = *graph.nodes()[i];
    std::vector<OpenInput> read;
    for (size_t k = 0; k < part.inputs.size(); ++k) {
      const int axis = axis_of(part.inputs[k]);
      if (axis >= 0) read.push_back({static_cast<int>(k), axis});
    }
    if (read.empty()) continue;
    const auto use = UseOfLength(graph, part, read);
    if (!use || use->neutral) return std::nullopt;
    for (size_t k = 0; k < use->axes.size(); ++k) {
      if (use->axes[k] >= 0)
        axes[{part.id(), static_cast<int>(k)}] = use->axes[k];
    }
  }
  LengthUse use;
  for (const Value& part : parts) use.axes.push_back(axis_of(part));
  return use;
}

}  // namespace

std::optional<LengthUse> UseOfLength(Graph& graph, const Node& node,
                                     const std::vector<OpenInput>& open) {
  if (node.kind != Node::Kind::kOperator) return std::nullopt;
  if (node.op->decompose) {
    const size_t first = graph.nodes().size();
    GraphBuilder builder(graph, node);
    const std::vector<Value> parts =
        node.op->decompose(node.attrs.get(), node, builder);
    if (!parts.empty()) return UseByParts(graph, open, node, parts, first);
  }
  if (!node.op->meaning) return std::nullopt;
  // An axis of extent 1 would be one that is broadcast.
  const int64_t extent = std::max<int64_t>(
      2, node.inputs[static_cast<size_t>(open[0].input)].shape()[open[0].axis]);
  const auto a = StateFor(node, graph.training, open, extent);
  const auto b = StateFor(node, graph.training, open, extent + 1);
  if (!a || !b) return std::nullopt;
  return Uses(open, extent).Of(*a, *b);
}

}  // namespace mxc
