// SPDX-License-Identifier: Apache-2.0
#include "ir/program/adjoint.h"

#include <unordered_map>

#include "ir/program/derivative.h"
#include "ir/program/index_constraints.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

// One place at which an output reads the operand.
struct Reading {
  std::vector<Expr> index;
  Expr slope;                    // head · ∂output / ∂(what is read)
  std::vector<Range> ranges;     // of the variables of both, outer ones first
  std::vector<Expr> conditions;  // all hold where it is read
};

// An operand that no step has: stands for a subexpression.
constexpr int kHole = 1 << 20;

class Readings {
 public:
  Readings(int operand, std::vector<Reading>& found)
      : operand_(operand), found_(found) {}

  void Of(const Store& store,
          const std::function<Expr(const std::vector<Expr>&)>& head) {
    std::vector<Expr> index;
    for (size_t k = 0; k < store.extent.size(); ++k) {
      const int var = FreshReductionVar();
      ranges_.push_back(
          {var, store.begin[k], store.begin[k] + store.extent[k]});
      index.push_back(Var(var));
    }
    const Expr value =
        SubstituteVars(store.value, [&](int var) { return index[var]; });
    Walk(value, Cast(head(index), value->dtype));
  }

 private:
  bool Reads(const Expr& e) {
    const auto [entry, added] = reads_.try_emplace(e.get(), false);
    if (!added) return entry->second;
    bool reads = e->kind == ExprKind::kLoad && e->index == operand_;
    if (e->kind != ExprKind::kLoad) {
      // A condition passes no gradient.
      const size_t first = e->kind == ExprKind::kSelect ? 1 : 0;
      for (size_t k = first; k < e->args.size(); ++k) {
        reads = Reads(e->args[k]) || reads;
      }
    }
    keep_.push_back(e);
    return reads_[e.get()] = reads;
  }

  void Walk(const Expr& e, const Expr& slope) {
    if (!Reads(e) || IsConst(slope, 0)) return;
    switch (e->kind) {
      case ExprKind::kLoad:
        found_.push_back({e->args, slope, ranges_, conditions_});
        return;
      case ExprKind::kSelect:
        WalkUnder(e->args[0], e->args[1], slope);
        WalkUnder(Unary(UnaryOp::kNot, e->args[0]), e->args[2], slope);
        return;
      case ExprKind::kCast:
        if (IsFloat(e->dtype) && IsFloat(e->args[0]->dtype)) {
          Walk(e->args[0], Cast(slope, e->args[0]->dtype));
        }
        return;
      case ExprKind::kReduce:
        WalkSum(e, slope);
        return;
      default:
        for (size_t k = 0; k < e->args.size(); ++k) {
          if (!Reads(e->args[k])) continue;
          const Expr partial = Partial(e, k);
          if (IsConst(partial, 0)) continue;
          Walk(e->args[k], IsConst(partial, 1) ? slope : slope * partial);
        }
    }
  }

  void WalkUnder(const Expr& condition, const Expr& e, const Expr& slope) {
    conditions_.push_back(condition);
    Walk(e, slope);
    conditions_.pop_back();
  }

  void WalkSum(const Expr& e, const Expr& slope) {
    MXC_CHECK(e->reduce == ReduceOp::kSum, "a reduction of the operand: {}",
              Print(e));
    const size_t outer = ranges_.size();
    ranges_.insert(ranges_.end(), e->ranges.begin(), e->ranges.end());
    Walk(e->args[0], slope);
    ranges_.resize(outer);
  }

  // ∂e / ∂(argument k), all others held.
  static Expr Partial(const Expr& e, size_t k) {
    const Expr argument = e->args[k];
    const Expr hole = Load(kHole, argument->dtype, {});
    const Expr open = e->kind == ExprKind::kUnary
                          ? Unary(e->unary, hole)
                          : Binary(e->binary, k == 0 ? hole : e->args[0],
                                   k == 1 ? hole : e->args[1]);
    return Rewrite(Derivative(open, kHole), [&](const Expr& at) {
      const bool is_hole = at->kind == ExprKind::kLoad && at->index == kHole;
      return is_hole ? argument : Expr();
    });
  }

  const int operand_;
  std::vector<Reading>& found_;
  std::vector<Range> ranges_;
  std::vector<Expr> conditions_;
  std::unordered_map<const ExprNode*, bool> reads_;  // looked up only
  std::vector<Expr> keep_;                           // the nodes in reads_
};

// `value` where the conditions hold, else 0. Those that read memory are asked
// only where the others hold: these keep them in bounds.
Expr Guarded(const std::vector<Expr>& conditions, Expr value) {
  for (const bool reads : {true, false}) {
    Expr all;
    for (const Expr& condition : conditions) {
      if (HasLoads(condition) != reads || IsConst(condition, 1)) continue;
      all = all ? all && condition : condition;
    }
    if (all) value = Select(all, value, Lit(0, value));
  }
  return value;
}

// The sum over a reading's variables, where it hits element (Var(0) …).
Expr Gathered(const Reading& reading) {
  IndexConstraints constraints(reading.ranges);
  for (const Expr& condition : reading.conditions) {
    constraints.Require(condition);
  }
  for (size_t axis = 0; axis < reading.index.size(); ++axis) {
    constraints.RequireEqual(reading.index[axis], Var(static_cast<int>(axis)));
  }
  constraints.Solve();
  Expr value =
      Guarded(constraints.conditions(), constraints.Substituted(reading.slope));
  const std::vector<Range> ranges = constraints.ranges();
  for (size_t k = ranges.size(); k-- > 0;) {
    value = Reduce(ReduceOp::kSum, {ranges[k]}, value);
  }
  // Readings of one store share its variables, and a variable has one binder.
  return SubstituteVars(value, [](int) { return Expr(); });
}

}  // namespace

Expr Adjoint(std::span<const Store> stores, int operand, const TensorType& type,
             const std::function<Expr(const std::vector<Expr>& index)>& head) {
  std::vector<Reading> found;
  for (const Store& store : stores) Readings(operand, found).Of(store, head);
  Expr sum;
  for (const Reading& reading : found) {
    MXC_CHECK(static_cast<int>(reading.index.size()) == type.shape.rank());
    const Expr part = Cast(Gathered(reading), type.dtype);
    sum = sum ? sum + part : part;
  }
  return sum;
}

}  // namespace mxc
