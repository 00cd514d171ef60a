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

// `most` is the length in the graph, `length` the one that is stated for.
std::optional<Stated> StateFor(const Node& node, bool training,
                               const std::vector<OpenInput>& open, int64_t most,
                               int64_t length) {
  std::vector<TensorType> inputs;
  for (const Value& input : node.inputs) inputs.push_back(input.type());
  for (const OpenInput& o : open) {
    int64_t& extent = inputs[o.input].shape[o.axis];
    extent = extent / most * length;
  }
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
std::optional<std::vector<OpenAxis>> AxesOf(const Shape& a, const Shape& b,
                                            int64_t length) {
  if (a.rank() != b.rank()) return std::nullopt;
  std::vector<OpenAxis> axes;
  for (int axis = 0; axis < a.rank(); ++axis) {
    if (a[axis] == b[axis]) continue;
    const int64_t sequences = a[axis] / length;
    if (a[axis] != sequences * length || b[axis] != sequences * (length + 1)) {
      return std::nullopt;
    }
    axes.push_back({.axis = axis});
  }
  return axes;
}

// Compares the meanings for two extents, and notes the reductions that go over
// all of the axis.
class Comparison {
 public:
  Comparison(int64_t length, int64_t other) : length_(length), other_(other) {}

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
    if (IsWhole(a.end, b.end)) {
      whole_[a.var] = &reduction;
      return true;
    }
    return Same(a.end, b.end);
  }

  // Of as many sequences of either length.
  bool IsWhole(const Expr& a, const Expr& b) const {
    if (a->kind != ExprKind::kConst || b->kind != ExprKind::kConst)
      return false;
    const auto sequences = static_cast<int64_t>(a->number) / length_;
    return sequences > 0 && IsConst(a, Element(sequences * length_)) &&
           IsConst(b, Element(sequences * other_));
  }

  const int64_t length_, other_;
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
        return Computed(Binary(e->binary,
                               IsKnown(a) ? a : Constant(0, e->dtype),
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
  Uses(const std::vector<OpenInput>& open, int64_t length)
      : open_(open), length_(length) {}

  // `b`: the same for a length that is greater by 1.
  std::optional<LengthUse> Of(const Stated& a, const Stated& b) {
    if (a.stores.size() != b.stores.size()) return std::nullopt;
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      auto axes = AxesOf(a.outputs[i].shape, b.outputs[i].shape, length_);
      if (!axes) return std::nullopt;
      use_.axes.push_back(std::move(*axes));
    }
    for (const Store& store : a.stores) TakeOrder(store);
    for (size_t i = 0; i < a.stores.size(); ++i) {
      const Store &store = a.stores[i], &longer = b.stores[i];
      if (store.output != longer.output || store.begin != longer.begin ||
          !SameBeside(store, longer) || !Covers(store, a) ||
          !Covers(longer, b)) {
        return std::nullopt;
      }
      Comparison comparison(length_, length_ + 1);
      if (!comparison.Same(store.value, longer.value) ||
          !Add(store, comparison.whole())) {
        return std::nullopt;
      }
    }
    return Reducing();
  }

  // Of the one length that the node's attributes allow.
  std::optional<LengthUse> Of(const Stated& a) {
    use_.axes.resize(a.outputs.size());
    for (const Store& store : a.stores) TakeAxes(store, a);
    for (const Store& store : a.stores) {
      Comparison comparison(length_, length_);
      if (!Covers(store, a) || !comparison.Same(store.value, store.value) ||
          !Add(store, OverOpen(store, comparison.whole()))) {
        return std::nullopt;
      }
    }
    return Reducing();
  }

 private:
  using Reductions = std::map<int, const ExprNode*>;  // by their variable

  std::vector<OpenAxis>& AxesOfOutput(const Store& store) {
    return use_.axes[static_cast<size_t>(store.output)];
  }
  const std::vector<OpenAxis>& AxesOfOutput(const Store& store) const {
    return use_.axes[static_cast<size_t>(store.output)];
  }

  template <class F>
  void VisitOpen(const Store& store, F f) const {
    VisitLoads(store.value, [&](const ExprNode& load) {
      for (const OpenInput& o : open_) {
        if (load.index == o.input) {
          f(o, load.args[static_cast<size_t>(o.axis)]);
        }
      }
    });
  }

  // In which order entries lie along an output's axes: as where they are read.
  void TakeOrder(const Store& store) {
    VisitOpen(store, [&](const OpenInput& o, const Expr& at) {
      for (OpenAxis& axis : AxesOfOutput(store)) {
        const bool own = at->kind == ExprKind::kVar && at->index == axis.axis;
        if (own) axis.inner = o.inner;
      }
    });
  }

  // The axes at whose own index open ones are read.
  void TakeAxes(const Store& store, const Stated& stated) {
    std::vector<OpenAxis>& axes = AxesOfOutput(store);
    const Shape& shape =
        stated.outputs[static_cast<size_t>(store.output)].shape;
    VisitOpen(store, [&](const OpenInput& o, const Expr& at) {
      if (at->kind != ExprKind::kVar || at->index >= shape.rank()) return;
      const OpenAxis axis = {at->index, o.inner};
      const bool whole = shape[at->index] % (length_ * o.inner) == 0;
      if (whole && std::ranges::count(axes, axis) == 0) axes.push_back(axis);
    });
  }

  // Those that go over an open axis; others may have its extent by chance.
  Reductions OverOpen(const Store& store, const Reductions& all) const {
    Reductions over;
    VisitOpen(store, [&](const OpenInput&, const Expr& at) {
      if (at->kind != ExprKind::kVar) return;
      const auto found = all.find(at->index);
      if (found != all.end()) over.insert(*found);
    });
    return over;
  }

  // Returns whether the extents of two stores are alike but along open axes.
  bool SameBeside(const Store& a, const Store& b) const {
    const auto& axes = AxesOfOutput(a);
    for (size_t k = 0; k < a.extent.size(); ++k) {
      const bool open =
          std::ranges::count(axes, static_cast<int>(k), &OpenAxis::axis) > 0;
      if (!open && a.extent[k] != b.extent[k]) return false;
    }
    return true;
  }

  // Returns whether the store has all of the output's open axes.
  bool Covers(const Store& store, const Stated& stated) const {
    const Shape& shape =
        stated.outputs[static_cast<size_t>(store.output)].shape;
    return std::ranges::all_of(AxesOfOutput(store), [&](const OpenAxis& axis) {
      const auto k = static_cast<size_t>(axis.axis);
      return store.begin[k] == 0 && store.extent[k] == shape[axis.axis];
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
    bool fits = true;
    VisitOpen(store, [&](const OpenInput& o, const Expr& at) {
      fits = fits && Reads(at, o, store, whole);
    });
    reductions_.insert(reductions_.end(), whole.begin(), whole.end());
    return fits;
  }

  // Returns whether the entry is read at its own index, is the first one, or is
  // one of all that are reduced.
  bool Reads(const Expr& at, const OpenInput& open, const Store& store,
             const Reductions& whole) {
    if (IsConst(at, 0)) return ReadsFirst();
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
    const OpenAxis own = {at->index, open.inner};
    if (std::ranges::count(AxesOfOutput(store), own) > 0) return true;
    return first && ReadsFirst();
  }

  bool ReadsFirst() {
    use_.least = 1;
    return true;
  }

  // Returns whether what is behind the length then changes nothing.
  bool ChangesNothing(int var, const ExprNode& reduction) const {
    bool possible = true;
    const Expr behind = Rewrite(reduction.args[0], [&](const Expr& e) {
      if (e->kind != ExprKind::kLoad) return Expr();
      const bool open =
          std::ranges::any_of(use_.reduced, [&](const OpenInput& o) {
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
    return IsKnown(value) &&
           IsConst(value, Element(NeutralOf(reduction.reduce)));
  }

  const std::vector<OpenInput>& open_;
  const int64_t length_;
  LengthUse use_;
  std::vector<std::pair<int, const ExprNode*>> reductions_;
};

// What the parts of a node make of it.
std::optional<LengthUse> UseByParts(Graph& graph,
                                    const std::vector<OpenInput>& open,
                                    const Node& node,
                                    const std::vector<Value>& parts,
                                    size_t first, int64_t most, bool held) {
  using Axes = std::vector<OpenAxis>;
  std::map<std::pair<int, int>, Axes> axes;  // by node and output
  for (const OpenInput& o : open) {
    const Value value = node.inputs[static_cast<size_t>(o.input)];
    Axes& of = axes[{value.node->id(), value.index}];
    if (std::ranges::count(of, OpenAxis(o)) == 0) of.push_back(o);
  }
  int64_t least = 0;
  const size_t end = graph.nodes().size();
  for (size_t i = first; i < end; ++i) {
    const Node& part = *graph.nodes()[i];
    std::vector<OpenInput> read;
    for (size_t k = 0; k < part.inputs.size(); ++k) {
      const Value& input = part.inputs[k];
      const auto found = axes.find({input.node->id(), input.index});
      if (found == axes.end()) continue;
      for (const OpenAxis& axis : found->second) {
        read.push_back({axis, static_cast<int>(k)});
      }
    }
    if (read.empty()) continue;
    const auto use = UseOfLength(graph, part, read, most, held);
    if (!use || !use->reduced.empty()) return std::nullopt;
    least = std::max(least, use->least);
    for (size_t k = 0; k < use->axes.size(); ++k) {
      if (use->axes[k].empty()) continue;
      axes[{part.id(), static_cast<int>(k)}] = use->axes[k];
    }
  }
  LengthUse use;
  use.least = least;
  for (const Value& part : parts) {
    const auto found = axes.find({part.node->id(), part.index});
    use.axes.push_back(found == axes.end() ? Axes() : found->second);
  }
  return use;
}

// Of the same elements in row-major order: an axis stays one, split or joined
// with those around it, where as many elements are behind its entries.
std::optional<LengthUse> UseOfView(const Node& node,
                                   const std::vector<OpenInput>& open,
                                   int64_t most) {
  const Shape& from = node.inputs[0].shape();
  const Shape& to = node.types[0].shape;
  LengthUse use;
  use.axes.resize(1);
  for (const OpenInput& o : open) {
    if (o.input != 0) continue;  // its shape was looked at
    int64_t behind = o.inner;    // elements of one entry that follow each other
    for (int axis = o.axis + 1; axis < from.rank(); ++axis) {
      behind *= from[axis];
    }
    int axis = to.rank() - 1;
    for (; axis >= 0 && behind % to[axis] == 0 && behind >= to[axis]; --axis) {
      if (behind == 1) break;
      behind /= to[axis];
    }
    while (axis > 0 && to[axis] == 1) --axis;
    if (axis < 0 || to[axis] % (behind * most) != 0) return std::nullopt;
    use.axes[0].push_back({axis, behind});
  }
  return use;
}

std::optional<LengthUse> UseByMeaning(const Graph& graph, const Node& node,
                                      const std::vector<OpenInput>& open,
                                      int64_t most, bool held) {
  if (!node.op->meaning) return std::nullopt;
  // An axis of extent 1 would be one that is broadcast.
  const int64_t length = std::max<int64_t>(2, most);
  const auto a = StateFor(node, graph.training, open, most, length);
  const auto b = StateFor(node, graph.training, open, most, length + 1);
  if (!a || (!b && !held)) return std::nullopt;
  return b ? Uses(open, length).Of(*a, *b) : Uses(open, length).Of(*a);
}

}  // namespace

std::optional<LengthUse> UseOfLength(Graph& graph, const Node& node,
                                     const std::vector<OpenInput>& open,
                                     int64_t most, bool held) {
  if (node.kind != Node::Kind::kOperator) return std::nullopt;
  if (node.op->view) {
    if (auto use = UseOfView(node, open, most)) return use;
  }
  if (auto use = UseByMeaning(graph, node, open, most, held)) return use;
  if (!node.op->decompose) return std::nullopt;
  const size_t first = graph.nodes().size();
  GraphBuilder builder(graph, node);
  const std::vector<Value> parts =
      node.op->decompose(node.attrs.get(), node, builder);
  if (parts.empty()) return std::nullopt;
  return UseByParts(graph, open, node, parts, first, most, held);
}

}  // namespace mxc
