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
                               const std::vector<OpenAxis>& open,
                               int64_t extent) {
  std::vector<TensorType> inputs;
  for (const Value& input : node.inputs) inputs.push_back(input.type());
  for (const OpenAxis& o : open) inputs[o.input].shape[o.axis] = extent;
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

// The axes along which the shapes of an output differ, as the inputs do.
std::optional<std::vector<int>> AxesOf(const Shape& a, const Shape& b,
                                       int64_t extent) {
  if (a.rank() != b.rank()) return std::nullopt;
  std::vector<int> axes;
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a[axis] == b[axis]) continue;
    if (a[axis] != extent || b[axis] != extent + 1) return std::nullopt;
    axes.push_back(axis);
  }
  return axes;
}

// Compares the meanings for two extents, and notes the reductions that go over
// all of the axis.
class Comparison {
 public:
  Comparison(int64_t extent, int64_t other) : extent_(extent), other_(other) {}

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
    if (IsConst(a.end, extent_) && IsConst(b.end, other_)) {
      whole_[a.var] = &reduction;
      return true;
    }
    return Same(a.end, b.end);
  }

  const int64_t extent_, other_;
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

bool IsKnown(const Expr& e) { return e.get() != nullptr; }

bool IsInfinite(const Expr& e) {
  return IsFloat(e->dtype) &&
         std::abs(static_cast<double>(e->number)) == kInfinity;
}

Expr Computed(const Expr& e) {
  return Constant(Evaluator({}).Evaluate(e, 1, {})[0], e->dtype);
}

// The number that an expression is whatever finite numbers its loads and
// reductions are; null where it follows them.
Expr FixedValue(const Expr& e) {
  switch (e->kind) {
    case ExprKind::kConst:
      return e;
    case ExprKind::kCast: {
      const Expr x = FixedValue(e->args[0]);
      return IsKnown(x) ? Computed(Cast(x, e->dtype)) : Expr();
    }
    case ExprKind::kUnary: {
      const Expr x = FixedValue(e->args[0]);
      return IsKnown(x) ? Computed(Unary(e->unary, x)) : Expr();
    }
    case ExprKind::kSelect: {
      const Expr then = FixedValue(e->args[1]);
      const Expr otherwise = FixedValue(e->args[2]);
      const bool same =
          IsKnown(then) && IsKnown(otherwise) && Equal(then, otherwise);
      return same ? then : Expr();
    }
    case ExprKind::kBinary: {
      const Expr a = FixedValue(e->args[0]), b = FixedValue(e->args[1]);
      if (IsKnown(a) && IsKnown(b)) return Computed(Binary(e->binary, a, b));
      const Expr& known = IsKnown(a) ? a : b;
      if (!IsKnown(known)) return {};
      const bool sum =
          e->binary == BinaryOp::kAdd || e->binary == BinaryOp::kSub;
      if (sum && IsInfinite(known)) {
        return Computed(Binary(e->binary, IsKnown(a) ? a : Constant(0, e->dtype),
                               IsKnown(b) ? b : Constant(0, e->dtype)));
      }
      const bool product = e->binary == BinaryOp::kMul;
      return product && IsConst(known, 0) ? known : Expr();
    }
    default:
      return {};
  }
}

class Uses {
 public:
  Uses(const std::vector<OpenAxis>& open, int64_t extent)
      : open_(open), extent_(extent) {}

  // `b`: the same for an extent that is greater by 1.
  std::optional<LengthUse> Of(const Stated& a, const Stated& b) {
    if (a.stores.size() != b.stores.size()) return std::nullopt;
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      auto axes = AxesOf(a.outputs[i].shape, b.outputs[i].shape, extent_);
      if (!axes) return std::nullopt;
      use_.axes.push_back(std::move(*axes));
    }
    for (size_t i = 0; i < a.stores.size(); ++i) {
      const Store &store = a.stores[i], &longer = b.stores[i];
      if (store.output != longer.output || store.begin != longer.begin ||
          !Covers(store, extent_) || !Covers(longer, extent_ + 1)) {
        return std::nullopt;
      }
      Comparison comparison(extent_, extent_ + 1);
      if (!comparison.Same(store.value, longer.value) ||
          !Add(store, comparison.whole())) {
        return std::nullopt;
      }
    }
    return Reducing();
  }

  // Of the one extent that the node's attributes allow.
  std::optional<LengthUse> Of(const Stated& a) {
    use_.axes.resize(a.outputs.size());
    for (const Store& store : a.stores) TakeAxes(store);
    for (const Store& store : a.stores) {
      Comparison comparison(extent_, extent_);
      if (!Covers(store, extent_) ||
          !comparison.Same(store.value, store.value) ||
          !Add(store, OverOpen(store, comparison.whole()))) {
        return std::nullopt;
      }
    }
    return Reducing();
  }

 private:
  using Reductions = std::map<int, const ExprNode*>;  // by their variable

  template <class F>
  void VisitOpen(const Store& store, F f) const {
    VisitLoads(store.value, [&](const ExprNode& load) {
      for (const OpenAxis& o : open_) {
        if (load.index == o.input) {
          f(o, load.args[static_cast<size_t>(o.axis)]);
        }
      }
    });
  }

  // The axes at whose own index open ones are read.
  void TakeAxes(const Store& store) {
    std::vector<int>& axes = use_.axes[static_cast<size_t>(store.output)];
    VisitOpen(store, [&](const OpenAxis&, const Expr& at) {
      if (at->kind != ExprKind::kVar || at->index >= kFirstReductionVar) return;
      const bool whole =
          store.extent[static_cast<size_t>(at->index)] == extent_;
      if (whole && std::ranges::count(axes, at->index) == 0) {
        axes.push_back(at->index);
      }
    });
  }

  // Those that go over an open axis; others may have its extent by chance.
  Reductions OverOpen(const Store& store, const Reductions& all) const {
    Reductions over;
    VisitOpen(store, [&](const OpenAxis&, const Expr& at) {
      if (at->kind != ExprKind::kVar) return;
      const auto found = all.find(at->index);
      if (found != all.end()) over.insert(*found);
    });
    return over;
  }

  // Returns whether the store has all of the output's open axes.
  bool Covers(const Store& store, int64_t extent) const {
    const auto& axes = use_.axes[static_cast<size_t>(store.output)];
    return std::ranges::all_of(axes, [&](int axis) {
      const auto k = static_cast<size_t>(axis);
      return store.begin[k] == 0 && store.extent[k] == extent;
    });
  }

  std::optional<LengthUse> Reducing() {
    if (use_.reduced.empty()) return use_;
    for (const double neutral : {0.0, -kInfinity, kInfinity, 1.0}) {
      use_.neutral = neutral;
      const bool fits = std::ranges::all_of(reductions_, [&](const auto& r) {
        return ChangesNothing(r.first, *r.second);
      });
      if (fits) return use_;
    }
    return std::nullopt;
  }

  bool Add(const Store& store, const Reductions& whole) {
    const std::vector<int>& axes =
        use_.axes[static_cast<size_t>(store.output)];
    bool fits = true;
    VisitOpen(store, [&](const OpenAxis& o, const Expr& at) {
      fits = fits && Reads(at, o, store, axes, whole);
    });
    reductions_.insert(reductions_.end(), whole.begin(), whole.end());
    return fits;
  }

  // Returns whether the entry is read at its own index, is the first one, or is
  // one of all that are reduced.
  bool Reads(const Expr& at, const OpenAxis& open, const Store& store,
             const std::vector<int>& axes, const Reductions& whole) {
    if (IsConst(at, 0)) return true;
    if (at->kind != ExprKind::kVar) return false;
    if (whole.contains(at->index)) {
      if (std::ranges::count(use_.reduced, open) == 0) {
        use_.reduced.push_back(open);
      }
      return true;
    }
    if (at->index >= static_cast<int>(store.extent.size())) return false;
    const auto axis = static_cast<size_t>(at->index);
    const bool first = store.begin[axis] == 0 && store.extent[axis] == 1;
    return first || std::ranges::count(axes, at->index) > 0;
  }

  // Returns whether what is behind the length then changes nothing.
  bool ChangesNothing(int var, const ExprNode& reduction) const {
    bool possible = true;
    const Expr behind = Rewrite(reduction.args[0], [&](const Expr& e) {
      if (e->kind != ExprKind::kLoad) return Expr();
      const bool open =
          std::ranges::any_of(use_.reduced, [&](const OpenAxis& o) {
            if (o.input != e->index) return false;
            const Expr& at = e->args[static_cast<size_t>(o.axis)];
            return at->kind == ExprKind::kVar && at->index == var;
          });
      if (!open) return Expr();
      possible = possible &&
                 (IsFloat(e->dtype) || std::abs(use_.neutral) != kInfinity);
      return possible ? Constant(use_.neutral, e->dtype) : Expr();
    });
    if (!possible) return false;
    const Expr value = FixedValue(behind);
    return IsKnown(value) && IsConst(value, Element(NeutralOf(reduction.reduce)));
  }

  const std::vector<OpenAxis>& open_;
  const int64_t extent_;
  LengthUse use_;
  std::vector<std::pair<int, const ExprNode*>> reductions_;
};

// What the parts of a node make of it.
std::optional<LengthUse> UseByParts(Graph& graph,
                                    const std::vector<OpenAxis>& open,
                                    const Node& node,
                                    const std::vector<Value>& parts,
                                    size_t first) {
  std::map<std::pair<int, int>, std::vector<int>> axes;  // by node and output
  for (const OpenAxis& o : open) {
    const Value value = node.inputs[static_cast<size_t>(o.input)];
    std::vector<int>& of = axes[{value.node->id(), value.index}];
    if (std::ranges::count(of, o.axis) == 0) of.push_back(o.axis);
  }
  const size_t end = graph.nodes().size();
  for (size_t i = first; i < end; ++i) {
    const Node& part = *graph.nodes()[i];
    std::vector<OpenAxis> read;
    for (size_t k = 0; k < part.inputs.size(); ++k) {
      const Value& input = part.inputs[k];
      const auto found = axes.find({input.node->id(), input.index});
      if (found == axes.end()) continue;
      for (const int axis : found->second) {
        read.push_back({static_cast<int>(k), axis});
      }
    }
    if (read.empty()) continue;
    const auto use = UseOfLength(graph, part, read);
    if (!use || !use->reduced.empty()) return std::nullopt;
    for (size_t k = 0; k < use->axes.size(); ++k) {
      if (use->axes[k].empty()) continue;
      axes[{part.id(), static_cast<int>(k)}] = use->axes[k];
    }
  }
  LengthUse use;
  for (const Value& part : parts) {
    const auto found = axes.find({part.node->id(), part.index});
    use.axes.push_back(found == axes.end() ? std::vector<int>()
                                           : found->second);
  }
  return use;
}

// Of the same elements in row-major order: an axis stays one where as many
// elements are before and behind it.
std::optional<LengthUse> UseOfView(const Node& node,
                                   const std::vector<OpenAxis>& open) {
  const Shape& from = node.inputs[0].shape();
  const Shape& to = node.types[0].shape;
  LengthUse use;
  use.axes.resize(1);
  for (const OpenAxis& o : open) {
    if (o.input != 0) continue;  // its shape was looked at
    int64_t before = 1;
    for (int axis = 0; axis < o.axis; ++axis) before *= from[axis];
    int found = 0;
    for (; found < to.rank(); ++found) {
      if (before == 1 && to[found] == from[o.axis]) break;
      if (before % to[found] != 0) return std::nullopt;
      before /= to[found];
    }
    if (found == to.rank()) return std::nullopt;
    use.axes[0].push_back(found);
  }
  return use;
}

std::optional<LengthUse> UseByMeaning(const Graph& graph, const Node& node,
                                      const std::vector<OpenAxis>& open) {
  if (!node.op->meaning) return std::nullopt;
  // An axis of extent 1 would be one that is broadcast.
  const int64_t extent = std::max<int64_t>(
      2, node.inputs[static_cast<size_t>(open[0].input)].shape()[open[0].axis]);
  const auto a = StateFor(node, graph.training, open, extent);
  const auto b = StateFor(node, graph.training, open, extent + 1);
  if (!a) return std::nullopt;
  return b ? Uses(open, extent).Of(*a, *b) : Uses(open, extent).Of(*a);
}

}  // namespace

std::optional<LengthUse> UseOfLength(Graph& graph, const Node& node,
                                     const std::vector<OpenAxis>& open) {
  if (node.kind != Node::Kind::kOperator) return std::nullopt;
  if (node.op->view) {
    if (auto use = UseOfView(node, open)) return use;
  }
  if (auto use = UseByMeaning(graph, node, open)) return use;
  if (!node.op->decompose) return std::nullopt;
  const size_t first = graph.nodes().size();
  GraphBuilder builder(graph, node);
  const std::vector<Value> parts =
      node.op->decompose(node.attrs.get(), node, builder);
  if (parts.empty()) return std::nullopt;
  return UseByParts(graph, open, node, parts, first);
}

}  // namespace mxc
