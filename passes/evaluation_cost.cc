// SPDX-License-Identifier: Apache-2.0
#include "passes/evaluation_cost.h"

#include <algorithm>
#include <span>
#include <vector>

#include "ir/program/expr_table.h"
#include "ir/program/scatter_sum.h"
#include "ir/program/steps/map.h"

namespace mxc {
namespace {

// Bounds of window reductions are not constant; typical windows are small.
constexpr int64_t kUnknownExtent = 8;

double WeightOf(UnaryOp op) {
  switch (op) {
    case UnaryOp::kNeg:
    case UnaryOp::kAbs:
    case UnaryOp::kNot:
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kTrunc:
    case UnaryOp::kRoundEven:
    case UnaryOp::kIsNan:
    case UnaryOp::kBits:
    case UnaryOp::kHighBits:
      return 1;
    case UnaryOp::kSign:
    case UnaryOp::kRound:
      return kOperationWeights.rounding;
    case UnaryOp::kSqrt:
      return kOperationWeights.root;
    default:
      return kOperationWeights.function;
  }
}

double WeightOf(const ExprNode& node) {
  switch (node.kind) {
    case ExprKind::kConst:
    case ExprKind::kVar:
    case ExprKind::kAcc:
      return 0;
    case ExprKind::kLoad:
      return kOperationWeights.memory;
    case ExprKind::kUnary:
      return WeightOf(node.unary);
    case ExprKind::kBinary:
      switch (node.binary) {
        case BinaryOp::kDiv:
        case BinaryOp::kMod:
          return kOperationWeights.divide;
        case BinaryOp::kPow:
          return kOperationWeights.power;
        default:
          return 1;
      }
    case ExprKind::kSelect:
    case ExprKind::kCast:
    case ExprKind::kReduce:
      return 1;
  }
  return 1;
}

struct Loop {
  int var;
  int64_t extent;
};

// Index arithmetic is free as long as it is affine: it becomes addressing. A
// division in an index breaks vectors up, so it counts like a value.
bool IsFreeIndexArithmetic(const ExprNode& node) {
  if (node.dtype != DType::kI64) return false;
  if (node.kind != ExprKind::kBinary) return node.kind != ExprKind::kLoad;
  return node.binary != BinaryOp::kDiv && node.binary != BinaryOp::kMod;
}

using Loops = std::span<const Loop>;

class Costing {
 public:
  double Run(const Expr& value, const std::vector<Loop>& loops) {
    Visit(value, loops);
    return cost_;
  }

 private:
  // A subexpression counts once however often it occurs: its free variables
  // say where it is evaluated.
  void Visit(const Expr& e, Loops loops) {
    if (!seen_.Insert(e)) return;
    const Loops own = LoopsOf(e, loops);
    if (!IsFreeIndexArithmetic(*e)) cost_ += Iterations(own) * WeightOf(*e);
    if (e->kind != ExprKind::kReduce) {
      for (const Expr& arg : e->args) Visit(arg, own);
      return;
    }
    std::vector<Loop> inner(own.begin(), own.end());
    for (const Range& range : e->ranges) {
      Visit(range.begin, own);
      Visit(range.end, own);
      inner.push_back({range.var, ExtentOf(range)});
    }
    cost_ += Iterations(inner);  // the combination itself
    Visit(e->args[0], inner);
  }

  // The loops from the outermost to the innermost whose variable is free in e.
  Loops LoopsOf(const Expr& e, Loops loops) {
    size_t depth = loops.size();
    while (depth > 0 && !free_vars_.IsFree(loops[depth - 1].var, e)) --depth;
    return loops.first(depth);
  }

  static double Iterations(Loops loops) {
    double product = 1;
    for (const Loop& loop : loops) {
      product *= static_cast<double>(loop.extent);
    }
    return product;
  }

  double cost_ = 0;
  FreeVarTable free_vars_;
  EqualExprSet seen_;
};

// The operands of nested `op`s: a, b, c of max(max(a, b), c).
std::vector<Expr> Alternatives(const Expr& e, BinaryOp op) {
  if (e->kind != ExprKind::kBinary || e->binary != op) return {e};
  std::vector<Expr> all = Alternatives(e->args[0], op);
  for (const Expr& other : Alternatives(e->args[1], op)) all.push_back(other);
  return all;
}

using Counts = ExprTable<double>;

// With `repeat`, the body of a reduction counts for each of its iterations.
double CountNaive(const Expr& e, bool repeat, Counts& counts) {
  if (e->args.empty()) return 1;
  if (const double* known = counts.Find(e.get())) return *known;
  double repeats = 1, count = 1;
  for (const Range& range : e->ranges) {
    if (repeat) repeats *= static_cast<double>(ExtentOf(range));
  }
  for (const Expr& arg : e->args) {
    count += repeats * CountNaive(arg, repeat, counts);
  }
  counts.Add(e.get(), count);
  return count;
}

double Elements(const Extents& extent) {
  double elements = 1;
  for (const int64_t n : extent) elements *= static_cast<double>(n);
  return elements;
}

// Zeros, then a reading and a writing for each value.
double ScatterCost(const Store& store, const ScatterSum& sum) {
  std::vector<Loop> loops;
  double values = 1;
  for (size_t axis = 0; axis < store.extent.size(); ++axis) {
    if (static_cast<int>(axis) == sum.axis) continue;
    loops.push_back({static_cast<int>(axis), store.extent[axis]});
    values *= static_cast<double>(store.extent[axis]);
  }
  for (const Range& range : sum.ranges) {
    loops.push_back({range.var, ExtentOf(range)});
    values *= static_cast<double>(loops.back().extent);
  }
  Costing costing;
  costing.Run(sum.position, loops);
  return (Elements(store.extent) + 2 * values) * kOperationWeights.memory +
         costing.Run(sum.value, loops);
}

}  // namespace

int64_t ExtentOf(const Range& range) {
  // Bounds are taken without the clip to a tensor's border: the interior is
  // what counts.
  int64_t extent = -1;
  for (const Expr& begin : Alternatives(range.begin, BinaryOp::kMax)) {
    for (const Expr& end : Alternatives(range.end, BinaryOp::kMin)) {
      const Expr difference =
          Simplify(end - begin, [](int) { return std::optional<Interval>(); });
      if (difference->kind != ExprKind::kConst) continue;
      const auto trips =
          std::max<int64_t>(static_cast<int64_t>(difference->number), 0);
      extent = extent < 0 ? trips : std::min(extent, trips);
    }
  }
  return extent < 0 ? kUnknownExtent : extent;
}

double HoistedCost(const Store& store) {
  if (const auto sum = MatchScatterSum(store, Shape(store.extent))) {
    return ScatterCost(store, *sum);
  }
  std::vector<Loop> loops;
  for (size_t axis = 0; axis < store.extent.size(); ++axis) {
    if (store.extent[axis] > 1) {
      loops.push_back({static_cast<int>(axis), store.extent[axis]});
    }
  }
  return Elements(store.extent) * kOperationWeights.memory +
         Costing().Run(store.value, loops);
}

double NaiveEvaluations(const Store& store) {
  Counts counts;
  return Elements(store.extent) *
         CountNaive(store.value, /*repeat=*/true, counts);
}

double TreeSize(const Expr& e) {
  Counts counts;
  return CountNaive(e, /*repeat=*/false, counts);
}

}  // namespace mxc
