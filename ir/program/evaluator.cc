// SPDX-License-Identifier: Apache-2.0
#include "ir/program/evaluator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/program/integers.h"
#include "ir/program/lane_values.h"

namespace mxc {

using Values = LaneValues;

// What is bound where an expression is evaluated.
struct Evaluator::Scope {
  int lanes = 1;
  std::unordered_map<int, Values> vars;
  Values acc;
  std::unordered_map<const ExprNode*, Values> memo;
  // The scope around a reduction's, of the same lanes, and the variable that is
  // bound in this one alone.
  Scope* outer = nullptr;
  int own = -1;

  // The same with the chosen lanes only.
  Scope Keep(const std::vector<int>& chosen) const {
    Scope kept;
    kept.lanes = static_cast<int>(chosen.size());
    for (const auto& [var, values] : vars)
      kept.vars[var] = Pick(values, chosen);
    kept.acc = Pick(acc, chosen);
    return kept;
  }

  static Values Pick(const Values& values, const std::vector<int>& chosen) {
    if (values.size() <= 1) return values;
    Values picked;
    for (const int lane : chosen) picked.push_back(values[lane]);
    return picked;
  }
};

namespace {

Element Identity(ReduceOp op, DType dtype) {
  constexpr Element kInfinity = std::numeric_limits<Element>::infinity();
  switch (op) {
    case ReduceOp::kSum:
      return 0;
    case ReduceOp::kProduct:
      return 1;
    case ReduceOp::kMax:
      return IsFloat(dtype) ? -kInfinity : LeastInteger(dtype);
    case ReduceOp::kMin:
      return IsFloat(dtype) ? kInfinity : LargestInteger(dtype);
  }
  return 0;
}

Values Converted(const Values& values, DType from, DType to) {
  // Of floats nothing is lost on the way: that is the oracle.
  const bool wide = to == DType::kF32 || to == DType::kF64;
  if (wide && IsFloat(from)) return values;
  if (IsFloat(to) || to == DType::kBool) {
    return Apply([to](Element v) { return Rounded(v, to); }, values);
  }
  if (IsFloat(from)) {
    return Apply([to](Element v) { return Truncated(v, to); }, values);
  }
  return Apply([to](Element v) { return Wrapped(v, to); }, values);
}

BinaryOp Combiner(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return BinaryOp::kAdd;
    case ReduceOp::kProduct:
      return BinaryOp::kMul;
    case ReduceOp::kMax:
      return BinaryOp::kMax;
    case ReduceOp::kMin:
      return BinaryOp::kMin;
  }
  return BinaryOp::kAdd;
}

}  // namespace

Values Evaluator::Evaluate(const Expr& e, int lanes,
                           const std::vector<Values>& vars, const Values& acc) {
  Scope scope;
  scope.lanes = lanes;
  scope.acc = acc;
  for (size_t k = 0; k < vars.size(); ++k) {
    scope.vars[static_cast<int>(k)] = vars[k];
  }
  Values values = Visit(e, scope);
  if (values.size() == 1) values.resize(lanes, values[0]);
  return values;
}

const std::vector<int>& Evaluator::FreeVarsOf(const Expr& e) {
  auto [it, fresh] = free_vars_.try_emplace(e.get());
  if (fresh) it->second = FreeVars(e);
  return it->second;
}

const Values& Evaluator::Visit(const Expr& e, Scope& scope) {
  if (e->kind == ExprKind::kAcc) return scope.acc;
  if (e->kind == ExprKind::kVar) {
    const auto it = scope.vars.find(e->index);
    MXC_CHECK(it != scope.vars.end(), "variable {} is unbound", e->index);
    return it->second;
  }
  if (const auto it = scope.memo.find(e.get()); it != scope.memo.end()) {
    return it->second;
  }
  Values values = Compute(e, scope);
  return scope.memo.emplace(e.get(), std::move(values)).first->second;
}

Values Evaluator::Compute(const Expr& e, Scope& scope) {
  switch (e->kind) {
    case ExprKind::kConst:
      return {e->number};
    case ExprKind::kLoad:
      return VisitLoad(e, scope);
    case ExprKind::kUnary:
      return Disturbed(
          ApplyUnary(e->unary, e->args[0]->dtype, Visit(e->args[0], scope)),
          e->dtype);
    case ExprKind::kBinary:
      return Disturbed(
          ApplyBinary(e->binary, e->args[0]->dtype, Visit(e->args[0], scope),
                      Visit(e->args[1], scope)),
          e->dtype);
    case ExprKind::kSelect:
      return VisitSelect(e, scope);
    case ExprKind::kCast:
      return Converted(Visit(e->args[0], scope), e->args[0]->dtype, e->dtype);
    case ExprKind::kReduce:
      return VisitReduce(e, scope);
    default:
      break;
  }
  MXC_CHECK(false);
  return {};
}

Values Evaluator::Disturbed(Values values, DType dtype) {
  if (noise_ == nullptr || !IsFloat(dtype)) return values;
  for (Element& value : values) value = noise_->Of(value, dtype);
  return values;
}

Values Evaluator::VisitLoad(const Expr& e, Scope& scope) {
  MXC_CHECK(e->index < static_cast<int>(operands_.size()));
  const OperandView& operand = operands_[e->index];
  MXC_CHECK(e->args.size() == operand.dims.size(), "{}", Print(e));
  // Indices that all lanes share are looked up once.
  struct Index {
    const Values* values;
    int64_t extent, stride;
    size_t axis;
  };
  std::vector<Index> own;
  size_t lanes = 1;
  int64_t shared = 0, stride = 1;
  const auto at = [&](const Index& index, size_t lane) {
    const auto i = static_cast<int64_t>((*index.values)[lane]);
    MXC_CHECK(i >= 0 && i < index.extent,
              "index {} of axis {} is out of {} in {}", i, index.axis,
              index.extent, Print(e));
    return i * index.stride;
  };
  for (size_t axis = e->args.size(); axis-- > 0;) {
    const int64_t extent = operand.dims[axis];
    const Index index = {&Visit(e->args[axis], scope), extent, stride, axis};
    if (index.values->size() == 1) {
      shared += at(index, 0);
    } else {
      own.push_back(index);
      lanes = index.values->size();
    }
    stride *= extent;
  }
  Values out(lanes);
  for (size_t lane = 0; lane < lanes; ++lane) {
    int64_t offset = shared;
    for (const Index& index : own) offset += at(index, lane);
    MXC_CHECK(!operand.reader || operand.writers[offset] == *operand.reader,
              "{} is read before it is written", Print(e));
    out[lane] = operand.values[offset];
  }
  return out;
}

Values Evaluator::VisitSelect(const Expr& e, Scope& scope) {
  const Values& condition = Visit(e->args[0], scope);
  if (condition.size() == 1) {
    return Visit(e->args[condition[0] != 0 ? 1 : 2], scope);
  }
  Values out(scope.lanes);
  for (const int side : {1, 2}) {
    std::vector<int> chosen;
    for (int lane = 0; lane < scope.lanes; ++lane) {
      if ((condition[lane] != 0) == (side == 1)) chosen.push_back(lane);
    }
    if (chosen.empty()) continue;
    if (static_cast<int>(chosen.size()) == scope.lanes) {
      return Visit(e->args[side], scope);
    }
    Scope kept = scope.Keep(chosen);
    const Values& values = Visit(e->args[side], kept);
    for (size_t i = 0; i < chosen.size(); ++i) {
      out[chosen[i]] = At(values, static_cast<int>(i));
    }
  }
  return out;
}

Values Evaluator::VisitReduce(const Expr& e, Scope& scope) {
  // What a loop does not change is computed before it.
  if (scope.outer != nullptr &&
      std::ranges::count(FreeVarsOf(e), scope.own) == 0) {
    return Visit(e, *scope.outer);
  }
  // A reduction whose free variables are alike in all lanes is computed once,
  // and again only when one of them changes.
  std::vector<Element> at;
  for (const int var : FreeVarsOf(e)) {
    const auto it = scope.vars.find(var);
    MXC_CHECK(it != scope.vars.end(), "variable {} is unbound", var);
    if (it->second.size() != 1) return ReduceFrom(e, 0, scope);
    at.push_back(it->second[0]);
  }
  const auto cached = cache_.find(e.get());
  if (cached != cache_.end() && cached->second.at == at) {
    return cached->second.result;
  }
  Values result = ReduceFrom(e, 0, scope);
  cache_[e.get()] = {std::move(at), result};
  return result;
}

// Combines over ranges[range..] in index order, the last range innermost. Lanes
// go along ranges of their own side by side, each from where it begins.
Values Evaluator::ReduceFrom(const Expr& e, size_t range, Scope& scope) {
  if (range == e->ranges.size()) return Visit(e->args[0], scope);
  const auto& [var, begin_expr, end_expr] = e->ranges[range];
  const Values begin = Visit(begin_expr, scope), end = Visit(end_expr, scope);
  const int lanes = begin.size() == 1 && end.size() == 1 ? 1 : scope.lanes;
  Element longest = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    longest = std::max(longest, At(end, lane) - At(begin, lane));
  }
  Values sum = {Identity(e->reduce, e->dtype)};
  for (Element t = 0; t < longest; ++t) {
    std::vector<int> chosen;
    for (int lane = 0; lane < lanes; ++lane) {
      if (At(begin, lane) + t < At(end, lane)) chosen.push_back(lane);
    }
    Values at = begin;
    for (Element& index : at) index += t;
    if (static_cast<int>(chosen.size()) == lanes) {
      Scope inner;
      inner.lanes = scope.lanes;
      inner.vars = scope.vars;
      inner.vars[var] = std::move(at);
      inner.acc = scope.acc;
      inner.outer = &scope;
      inner.own = var;
      sum = Disturbed(ApplyBinary(Combiner(e->reduce), e->dtype, sum,
                                  ReduceFrom(e, range + 1, inner)),
                      e->dtype);
      continue;
    }
    Scope inner = scope.Keep(chosen);
    inner.vars[var] = Scope::Pick(at, chosen);
    const Values part = ReduceFrom(e, range + 1, inner);
    sum.resize(scope.lanes, sum[0]);
    for (size_t i = 0; i < chosen.size(); ++i) {
      sum[chosen[i]] =
          ApplyBinary(Combiner(e->reduce), e->dtype, {sum[chosen[i]]},
                      {At(part, static_cast<int>(i))})[0];
    }
  }
  return sum;
}

}  // namespace mxc
