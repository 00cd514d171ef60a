// SPDX-License-Identifier: Apache-2.0
// cut-reductions: a long reduction with few results is cut, so that it can be
// dealt to several threads.
//
//   s[c] = Σ_{n<64} x[n,c]     ⇒     p[t,c] = Σ_{n<8} x[8t+n,c]      t < 8
//                                    s[c] = Σ_{t<8} p[t,c]
//
// The cut depends on the extents alone, so the sum has the same bytes for any
// number of threads; partial sums are also the more exact ones. Reductions of
// one step over equal ranges stay in one sweep.
#include <algorithm>

#include "ir/program/add_buffer.h"
#include "ir/program/scatter_sum.h"
#include "ir/program/steps/map.h"
#include "ir/support/division.h"
#include "passes/evaluation_cost.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

// Its own index is all that decides how often it runs.
bool MayCut(const Expr& reduction) {
  if (HasReduce(reduction->args[0])) return false;
  return std::ranges::all_of(reduction->ranges, [](const Range& range) {
    return IsConst(range.begin, 0) && range.end->kind == ExprKind::kConst &&
           range.end->number >= 1;
  });
}

int64_t Trips(const Range& range) {
  return static_cast<int64_t>(range.end->number);
}

bool SameExtents(const Expr& a, const Expr& b) {
  return std::ranges::equal(
      a->ranges, b->ranges,
      [](const Range& x, const Range& y) { return Equal(x.end, y.end); });
}

// A range in `parts` parts of `chunk` values each, the last one shorter.
struct Cut {
  size_t range = 0;
  int64_t parts = 1, chunk = 1;
};

// A cut into about `wanted` parts, equal ones if there are such.
std::optional<Cut> CutOf(const Expr& reduction, int64_t wanted) {
  std::optional<Cut> best;
  if (wanted < 2) return best;
  for (size_t i = 0; i < reduction->ranges.size(); ++i) {
    const int64_t trips = Trips(reduction->ranges[i]);
    int64_t parts = std::min(trips, wanted);
    for (int64_t more = parts; more <= std::min(trips, 2 * wanted); ++more) {
      if (trips % more != 0) continue;
      parts = more;
      break;
    }
    const int64_t chunk = (trips + parts - 1) / parts;
    const Cut cut{i, (trips + chunk - 1) / chunk, chunk};
    if (!best || cut.parts > best->parts) best = cut;
    if (best->parts >= wanted) break;
  }
  return best && best->parts > 1 ? best : std::nullopt;
}

class StepCut {
 public:
  // Into at most `shares` of the work.
  StepCut(Program& program, const Step& step, const Machine& machine)
      : program_(program), step_(step), machine_(machine) {
    for (const Store& store : step.map()->stores) {
      CollectOutermostReductions(store.value, reductions_);
    }
  }

  // The two steps instead of one; empty if nothing is to be cut.
  std::vector<Step> Run() {
    // Reductions that are cut run over the ranges of the longest.
    const auto first = std::ranges::max_element(
        reductions_, {},
        [](const Expr& e) { return MayCut(e) ? Length(e) : 0; });
    if (first == reductions_.end() || !MayCut(*first)) return {};
    const Expr longest = *first;
    std::erase_if(reductions_, [&](const Expr& e) {
      return !MayCut(e) || !SameExtents(e, longest) || !OverAllAxes(e);
    });
    if (reductions_.empty()) return {};
    const auto cut = CutOf(longest, SharesWanted(longest));
    if (!cut) return {};
    return {PartialStep(*cut), FinalStep(*cut)};
  }

 private:
  const Extents& dims() const {
    return program_.buffers[step_.outputs[0]].type.shape.dims();
  }

  static int64_t Length(const Expr& reduction) {
    int64_t length = 1;
    for (const Range& range : reduction->ranges) length *= Trips(range);
    return length;
  }

  int64_t SharesWanted(const Expr& reduction) const {
    int64_t results = 1;
    for (const int64_t extent : dims()) results *= extent;
    const int64_t shares = DivideUp(results, machine_.results_side_by_side);
    const double work = static_cast<double>(results) *
                        static_cast<double>(Length(reduction)) *
                        kOperationWeights.memory;
    const auto most = static_cast<int64_t>(work / machine_.additions_of_task);
    return std::min<int64_t>(machine_.tasks, most) / shares;
  }

  // It is different for each result.
  bool OverAllAxes(const Expr& reduction) const {
    const std::vector<int> free = FreeVars(reduction);
    for (size_t axis = 0; axis < dims().size(); ++axis) {
      const bool uses = std::ranges::count(free, static_cast<int>(axis)) > 0;
      if (dims()[axis] > 1 && !uses) return false;
    }
    return true;
  }

  // Part i0 of the reduction for the result i1, i2, ….
  static Expr PartOf(const Expr& reduction, const Cut& cut) {
    std::vector<Range> ranges = reduction->ranges;
    Range& range = ranges[cut.range];
    const int outer = range.var;
    const int64_t trips = Trips(range);
    const Expr first = Var(0) * Expr(cut.chunk);
    Expr at;
    if (trips % cut.chunk == 0) {
      range = {FreshReductionVar(), 0, Expr(cut.chunk)};
      at = first + Var(range.var);
    } else {
      range = {FreshReductionVar(), first,
               Min(first + Expr(cut.chunk), Expr(trips))};
      at = Var(range.var);
    }
    const Expr body = SubstituteVars(reduction->args[0], [&](int var) {
      if (var == outer) return at;
      return var < kFirstReductionVar ? Var(var + 1) : Expr();
    });
    return Reduce(reduction->reduce, std::move(ranges), body);
  }

  Step PartialStep(const Cut& cut) {
    Step partial = step_;
    partial.name += "/parts";
    partial.outputs.clear();
    partial.map()->stores.clear();
    Extents extent = {cut.parts};
    extent.insert(extent.end(), dims().begin(), dims().end());
    for (size_t i = 0; i < reductions_.size(); ++i) {
      const std::string name =
          fmt::format("{}/parts{}", program_.buffers[step_.outputs[0]].name,
                      i == 0 ? std::string() : std::to_string(i));
      partial.outputs.push_back(
          AddBuffer(program_, name, {reductions_[i]->dtype, Shape(extent)}));
      partial.map()->stores.push_back({static_cast<int>(i),
                                       Extents(extent.size(), 0), extent,
                                       PartOf(reductions_[i], cut)});
    }
    parts_ = partial.outputs;
    TidyOperands(partial);
    return partial;
  }

  // The step with sums of parts in place of the reductions.
  Step FinalStep(const Cut& cut) const {
    Step step = step_;
    std::vector<Expr> sums;
    for (size_t i = 0; i < reductions_.size(); ++i) {
      const Range range{FreshReductionVar(), 0, Expr(cut.parts)};
      std::vector<Expr> index = {Var(range.var)};
      for (size_t axis = 0; axis < dims().size(); ++axis) {
        index.push_back(Var(static_cast<int>(axis)));
      }
      const Expr part = Load(OperandOf(step, parts_[i]), reductions_[i]->dtype,
                             std::move(index));
      sums.push_back(Reduce(reductions_[i]->reduce, {range}, part));
    }
    for (Store& store : step.map()->stores) {
      store.value = Rewrite(store.value, [&](const Expr& e) -> Expr {
        if (e->kind != ExprKind::kReduce) return {};
        for (size_t i = 0; i < reductions_.size(); ++i) {
          if (Equal(e, reductions_[i])) return sums[i];
        }
        return {};
      });
    }
    TidyOperands(step);
    return step;
  }

  Program& program_;
  const Step step_;
  const Machine& machine_;
  std::vector<Expr> reductions_;
  std::vector<int> parts_;
};

bool MayCut(const Program& program, const Step& step) {
  const Map* map = step.map();
  if (map == nullptr || step.view) return false;
  const Shape& shape = program.buffers[step.outputs[0]].type.shape;
  return std::ranges::all_of(map->stores, [&](const Store& store) {
    const Buffer& output = program.buffers[step.outputs[store.output]];
    return output.type.shape == shape && store.extent == shape.dims() &&
           !MatchScatterSum(store, shape);
  });
}

}  // namespace

Result<bool> CutReductions(Program& program, PassContext& context) {
  bool changed = false;
  std::vector<Step> steps;
  for (Step& step : program.steps) {
    std::vector<Step> cut;
    if (MayCut(program, step)) {
      cut = StepCut(program, step, context.machine()).Run();
    }
    if (cut.empty()) {
      steps.push_back(std::move(step));
      continue;
    }
    std::ranges::move(cut, std::back_inserter(steps));
    changed = true;
  }
  program.steps = std::move(steps);
  return changed;
}

}  // namespace mxc
