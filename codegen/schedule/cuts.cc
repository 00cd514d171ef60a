// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/cuts.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "ir/support/division.h"

namespace mxc {
namespace {

// 0 ≤ c·v + r holds for v ≥ ⌈−r / c⌉, or for v ≤ ⌊r / −c⌋ where c < 0.
std::vector<int64_t> CutsOfSign(const Affine& a, int var,
                                const IntervalOf& range) {
  const int64_t c = a.CoefficientOf(var);
  if (c == 0 || a.HidesVar(var)) return {};
  Affine rest = a;
  rest.Add(Var(var), -c);
  const auto bounds = Bounds(rest, range);
  if (!bounds) return {};
  std::set<int64_t> cuts;
  for (const int64_t r : {bounds->low, bounds->high}) {
    cuts.insert(c > 0 ? DivideUp(-r, c) : DivideDown(r, -c) + 1);
  }
  return {cuts.begin(), cuts.end()};
}

bool IsSignTest(const Expr& e) {
  return e->kind == ExprKind::kBinary && e->binary == BinaryOp::kLessEqual &&
         e->args[0]->dtype == DType::kI64 && IsConst(e->args[0], 0);
}

class Interior {
 public:
  Interior(int var, const IntervalOf& range) : var_(var) {
    range_ = [this, &range](int v) -> std::optional<Interval> {
      const auto it = reductions_.find(v);
      return it != reductions_.end() ? it->second : range(v);
    };
  }

  void Visit(const Expr& e) {
    if (!seen_.insert(e.get()).second) return;
    for (const Range& each : e->ranges) {
      Visit(each.begin);
      Visit(each.end);
      const auto low = Bounds(each.begin, range_);
      const auto high = Bounds(each.end, range_);
      reductions_[each.var] = std::nullopt;
      if (low && high) {
        reductions_[each.var] = Interval{low->low, high->high - 1};
      }
    }
    for (const Expr& arg : e->args) Visit(arg);
    const bool extremum =
        e->kind == ExprKind::kBinary && e->dtype == DType::kI64 &&
        (e->binary == BinaryOp::kMax || e->binary == BinaryOp::kMin);
    if (IsSignTest(e)) Add(ToAffine(e->args[1], range_));
    if (extremum) Add(ToAffine(e->args[0] - e->args[1], range_));
  }

  std::vector<int64_t> cuts() const { return {cuts_.begin(), cuts_.end()}; }

 private:
  void Add(const Affine& a) {
    for (const int64_t cut : CutsOfSign(a, var_, range_)) {
      // Cuts beyond the loop's range are none.
      const auto known = range_(var_);
      if (known && cut > known->low && cut <= known->high) cuts_.insert(cut);
    }
  }

  int var_;
  IntervalOf range_;
  std::map<int, std::optional<Interval>> reductions_;
  std::set<int64_t> cuts_;
  std::unordered_set<const ExprNode*> seen_;
};

}  // namespace

std::vector<int64_t> CutsOfCondition(const Expr& condition, int var,
                                     const IntervalOf& range) {
  if (IsSignTest(condition)) {
    return CutsOfSign(ToAffine(condition->args[1], range), var, range);
  }
  const bool both = condition->kind == ExprKind::kBinary &&
                    condition->binary == BinaryOp::kAnd;
  if (!both) return {};
  auto cuts = CutsOfCondition(condition->args[0], var, range);
  if (cuts.empty()) cuts = CutsOfCondition(condition->args[1], var, range);
  return cuts;
}

std::vector<int64_t> InteriorCuts(const Expr& form, int var,
                                  const IntervalOf& range) {
  Interior interior(var, range);
  interior.Visit(form);
  const std::vector<int64_t> cuts = interior.cuts();
  if (cuts.size() <= 2) return cuts;
  // Windows of several rows: the outermost cuts bound the interior, if there
  // is a gap between those at the beginning and those at the end.
  size_t widest = 1;
  for (size_t i = 1; i < cuts.size(); ++i) {
    if (cuts[i] - cuts[i - 1] > cuts[widest] - cuts[widest - 1]) widest = i;
  }
  return {cuts[widest - 1], cuts[widest]};
}

}  // namespace mxc
