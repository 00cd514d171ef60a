// SPDX-License-Identifier: Apache-2.0
#include "ir/program/index_constraints.h"

#include <algorithm>

#include "ir/support/check.h"

namespace mxc {
namespace {

bool Is(const Expr& e, BinaryOp op) {
  return e->kind == ExprKind::kBinary && e->binary == op;
}

bool IsInteger(const Expr& e) { return e->dtype == DType::kI64; }

Expr Replaced(const Expr& e, int var, const Expr& by) {
  return SubstituteVars(e, [&](int v) { return v == var ? by : Var(v); });
}

// Σ of both, a factor of 0 left out.
void AddFactors(std::map<int, int64_t>& to, const std::map<int, int64_t>& from,
                int64_t times) {
  for (const auto& [var, factor] : from) {
    int64_t& sum = to[var];
    sum += factor * times;
    if (sum == 0) to.erase(var);
  }
}

}  // namespace

bool IndexConstraints::IsVariable(int var) const {
  return std::ranges::any_of(
      ranges_, [&](const Range& range) { return range.var == var; });
}

void IndexConstraints::RequireEqual(const Expr& a, const Expr& b) {
  equations_.push_back({a, b});
}

void IndexConstraints::Require(const Expr& condition) {
  if (Is(condition, BinaryOp::kAnd)) {
    Require(condition->args[0]);
    Require(condition->args[1]);
  } else if (Is(condition, BinaryOp::kEqual) && IsInteger(condition->args[0])) {
    RequireEqual(condition->args[0], condition->args[1]);
  } else {
    conditions_.push_back(condition);
  }
}

bool IndexConstraints::UsesVariables(const Expr& e) const {
  return std::ranges::any_of(FreeVars(e),
                             [&](int var) { return IsVariable(var); });
}

IndexConstraints::Linear IndexConstraints::LinearOf(const Expr& e) const {
  if (!UsesVariables(e)) return {{}, e};
  if (e->kind == ExprKind::kVar) return {{{e->index, 1}}, Expr(0)};
  if (e->kind == ExprKind::kUnary && e->unary == UnaryOp::kNeg) {
    const Linear a = LinearOf(e->args[0]);
    Linear result{{}, -a.rest};
    AddFactors(result.factors, a.factors, -1);
    return result;
  }
  if (Is(e, BinaryOp::kMul)) {
    for (const int k : {0, 1}) {
      const Expr& times = e->args[1 - k];
      if (times->kind != ExprKind::kConst) continue;
      const Linear a = LinearOf(e->args[k]);
      Linear result{{}, a.rest * times};
      AddFactors(result.factors, a.factors,
                 static_cast<int64_t>(times->number));
      return result;
    }
  }
  const bool sub = Is(e, BinaryOp::kSub);
  if (!sub && !Is(e, BinaryOp::kAdd)) return {{}, e};
  Linear a = LinearOf(e->args[0]);
  const Linear b = LinearOf(e->args[1]);
  AddFactors(a.factors, b.factors, sub ? -1 : 1);
  a.rest = sub ? a.rest - b.rest : a.rest + b.rest;
  return a;
}

Expr IndexConstraints::Substituted(const Expr& e) const {
  Expr result = e;
  for (const auto& [var, by] : replaced_) result = Replaced(result, var, by);
  return result;
}

void IndexConstraints::Replace(int var, const Expr& by) {
  const auto range = std::ranges::find(ranges_, var, &Range::var);
  const Range bounds = *range;
  ranges_.erase(range);
  for (Range& other : ranges_) {
    other.begin = Replaced(other.begin, var, by);
    other.end = Replaced(other.end, var, by);
  }
  for (Equation& equation : equations_) {
    equation.a = Replaced(equation.a, var, by);
    equation.b = Replaced(equation.b, var, by);
  }
  for (Expr& condition : conditions_) {
    condition = Replaced(condition, var, by);
  }
  conditions_.push_back(bounds.begin <= by);
  conditions_.push_back(by < bounds.end);
  replaced_.emplace_back(var, by);
}

// Solves the equation for a variable of factor ±1.
bool IndexConstraints::Eliminate(const Equation& equation) {
  if (!IsInteger(equation.a) || !IsInteger(equation.b)) return false;
  const Linear linear = LinearOf(equation.a - equation.b);
  // The innermost one: its bounds then narrow the outer ones' ranges.
  for (size_t k = ranges_.size(); k-- > 0;) {
    const auto found = linear.factors.find(ranges_[k].var);
    if (found == linear.factors.end() || std::abs(found->second) != 1 ||
        UsesVar(linear.rest, found->first)) {
      continue;
    }
    const int64_t sign = -found->second;
    Expr value = sign > 0 ? linear.rest : -linear.rest;
    for (const auto& [var, factor] : linear.factors) {
      if (var != found->first) value = value + Var(var) * (factor * sign);
    }
    Replace(found->first, value);
    return true;
  }
  return false;
}

void IndexConstraints::EliminateAll() {
  for (size_t k = 0; k < equations_.size();) {
    const Equation equation = equations_[k];
    equations_.erase(equations_.begin() + static_cast<ptrdiff_t>(k));
    if (Eliminate(equation)) {
      k = 0;  // others may have become solvable
    } else {
      equations_.insert(equations_.begin() + static_cast<ptrdiff_t>(k),
                        equation);
      ++k;
    }
  }
}

// ⌊x / c⌋ = b  ⇔  b·c ≤ x < b·c + c; any other equation is a condition.
void IndexConstraints::SplitDivision(const Equation& equation) {
  for (const bool swapped : {false, true}) {
    const Expr& quotient = swapped ? equation.b : equation.a;
    const Expr& other = swapped ? equation.a : equation.b;
    if (!IsInteger(quotient) || !Is(quotient, BinaryOp::kDiv)) continue;
    const Expr& divisor = quotient->args[1];
    if (divisor->kind != ExprKind::kConst || divisor->number <= 0) continue;
    const Expr low = other * divisor;
    conditions_.push_back(low <= quotient->args[0]);
    conditions_.push_back(quotient->args[0] < low + divisor);
    return;
  }
  conditions_.push_back(equation.a == equation.b);
}

// Makes of a condition a bound of its innermost variable, if it is linear in
// that.
bool IndexConstraints::Narrow(const Expr& condition) {
  const bool strict = Is(condition, BinaryOp::kLess);
  if (!strict && !Is(condition, BinaryOp::kLessEqual)) return false;
  const Expr &less = condition->args[0], &more = condition->args[1];
  // What reads memory is asked where the bounds hold: it may rely on them.
  if (!IsInteger(less) || HasLoads(condition)) return false;
  // max(a, b) ≤ x  ⇔  a ≤ x and b ≤ x;  x ≤ min(a, b) alike.
  const bool split_less = Is(less, BinaryOp::kMax);
  if (split_less || Is(more, BinaryOp::kMin)) {
    for (const Expr& part : (split_less ? less : more)->args) {
      const Expr half = Binary(condition->binary, split_less ? part : less,
                               split_less ? more : part);
      if (IsConst(half, 1)) continue;
      if (!Narrow(half)) conditions_.push_back(half);
    }
    return true;
  }
  const Linear linear = LinearOf(more - less);  // must be ≥ 0, or > 0
  for (size_t k = ranges_.size(); k-- > 0;) {
    Range& range = ranges_[k];
    // The rest of the condition becomes part of this variable's bounds.
    if (UsesVar(linear.rest, range.var)) return false;
    const auto found = linear.factors.find(range.var);
    if (found == linear.factors.end()) continue;
    Expr rest = linear.rest - Expr(strict ? 1 : 0);
    for (const auto& [var, factor] : linear.factors) {
      if (var != range.var) rest = rest + Var(var) * factor;
    }
    const int64_t factor = found->second;  // factor · var + rest ≥ 0
    if (factor > 0) {
      range.begin = Max(range.begin, -(rest / factor));
    } else {
      range.end = Min(range.end, rest / -factor + 1);
    }
    return true;
  }
  return false;
}

// Outer variables first; no bound uses a later one.
void IndexConstraints::SortRanges() {
  std::vector<Range> sorted;
  while (!ranges_.empty()) {
    const auto next = std::ranges::find_if(ranges_, [&](const Range& range) {
      return std::ranges::none_of(ranges_, [&](const Range& other) {
        return UsesVar(range.begin, other.var) || UsesVar(range.end, other.var);
      });
    });
    MXC_CHECK(next != ranges_.end(), "bounds that depend on one another");
    sorted.push_back(*next);
    ranges_.erase(next);
  }
  ranges_ = std::move(sorted);
}

void IndexConstraints::Solve() {
  EliminateAll();
  SortRanges();
  const std::vector<Equation> rest = std::move(equations_);
  equations_.clear();
  for (const Equation& equation : rest) SplitDivision(equation);
  const std::vector<Expr> conditions = std::move(conditions_);
  conditions_.clear();
  for (const Expr& condition : conditions) {
    if (IsConst(condition, 1)) continue;
    if (!Narrow(condition)) conditions_.push_back(condition);
  }
}

}  // namespace mxc
