// SPDX-License-Identifier: Apache-2.0
#include "ir/program/flops.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "ir/program/evaluator.h"
#include "ir/program/program.h"
#include "ir/program/steps/contraction.h"

namespace mxc {
namespace {

// Places where bounds that vary are asked for.
constexpr double kMostSamples = 4096;

// Each distinct subexpression counts once for each value of its free variables,
// index arithmetic not at all.
class OperationCount {
 public:
  // Indices 0 … run over `extent`.
  explicit OperationCount(const Extents& extent) {
    for (size_t axis = 0; axis < extent.size(); ++axis) {
      axes_.push_back(static_cast<int>(axis));
      extents_[axes_.back()] = static_cast<double>(extent[axis]);
    }
  }

  double Of(const Expr& e) {
    Visit(e);
    return total_;
  }

 private:
  using Vars = std::vector<int>;  // ascending

  // The free variables; counts what was not met before.
  const Vars& Visit(const Expr& e) {
    if (const auto met = free_.find(e.get()); met != free_.end()) {
      return met->second;
    }
    for (const Range& range : e->ranges) extents_[range.var] = Trips(range);
    Vars vars;
    if (e->kind == ExprKind::kVar) vars.push_back(e->index);
    if (e->kind == ExprKind::kAcc) vars = axes_;
    const auto join = [&](const Expr& part) {
      const Vars& inner = Visit(part);
      vars.insert(vars.end(), inner.begin(), inner.end());
    };
    std::ranges::for_each(e->args, join);
    for (const Range& range : e->ranges) {  // a window moves by its bounds
      join(range.begin);
      join(range.end);
    }
    std::ranges::sort(vars);
    vars.erase(std::unique(vars.begin(), vars.end()), vars.end());
    if (IsFloat(e->dtype) && IsOperation(e->kind)) total_ += Values(vars);
    std::erase_if(vars, [&](int var) {
      return std::ranges::count(e->ranges, var, &Range::var) > 0;
    });
    return free_[e.get()] = std::move(vars);
  }

  // A reduction adds once for each of its terms.
  static bool IsOperation(ExprKind kind) {
    return kind == ExprKind::kUnary || kind == ExprKind::kBinary ||
           kind == ExprKind::kSelect || kind == ExprKind::kReduce;
  }

  // On average over the places of a box; bounds that data say count as one.
  double Trips(const Range& range) const {
    const Expr trips = Max(range.end - range.begin, 0);
    if (trips->kind == ExprKind::kConst) return trips->number;
    const std::vector<int> vars = FreeVars(trips);
    const auto bound = [&](int var) { return extents_.contains(var); };
    if (HasLoads(trips) || !std::ranges::all_of(vars, bound)) return 1;
    return MeanOver(vars, trips);
  }

  // Of what varies with `vars`, over a sample of all their values.
  double MeanOver(const std::vector<int>& vars, Expr e) const {
    const double places = Values(vars);
    const int lanes = static_cast<int>(std::min(places, kMostSamples));
    if (lanes < 1) return 0;
    std::vector<Evaluator::Values> values(vars.size());
    for (int lane = 0; lane < lanes; ++lane) {
      auto place = static_cast<int64_t>(lane * (places / lanes));
      for (size_t k = vars.size(); k-- > 0;) {
        const auto extent =
            std::max<int64_t>(1, static_cast<int64_t>(extents_.at(vars[k])));
        values[k].push_back(static_cast<double>(place % extent));
        place /= extent;
      }
    }
    e = SubstituteVars(e, [&](int var) {
      const auto at = std::ranges::find(vars, var);
      return Var(static_cast<int>(at - vars.begin()));
    });
    const Evaluator::Values trips = Evaluator({}).Evaluate(e, lanes, values);
    return std::accumulate(trips.begin(), trips.end(), 0.0) / lanes;
  }

  double Values(const Vars& vars) const {
    double n = 1;
    for (const int var : vars) n *= extents_.at(var);
    return n;
  }

  Vars axes_;
  std::unordered_map<int, double> extents_;
  std::unordered_map<const ExprNode*, Vars> free_;
  double total_ = 0;
};

double Real(int64_t number) { return static_cast<double>(number); }

// Up to 2^62, which stands for whatever is more.
int64_t Whole(double count) {
  return static_cast<int64_t>(std::min(count, 0x1p62));
}

}  // namespace

int64_t Contraction::flops() const {
  double n = 2;
  for (const int64_t extent : {batch, groups, in, out}) n *= Real(extent);
  for (const int64_t extent : output) n *= Real(extent);
  for (const int64_t extent : kernel) n *= Real(extent);
  for (const int64_t spread : data_dilate) n = std::floor(n / Real(spread));
  return Whole(n);
}

double OperationsOf(const Expr& value, const Extents& extent) {
  return OperationCount(extent).Of(value);
}

int64_t Step::flops(const Program& program) const {
  return Whole(body.Flops(program, *this));
}

}  // namespace mxc
