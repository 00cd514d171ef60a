// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/reduction_shape.h"

#include <algorithm>
#include <bit>
#include <map>

#include "codegen/schedule/free_variables.h"

namespace mxc {
namespace {

// Fewer terms are added by one thread.
constexpr int64_t kLeastTerms = 64;
// What a thread should have to do at least before there are more of them.
constexpr int64_t kTermsOfThread = 4;
constexpr int kWarpThreads = 32, kMostThreads = 256;
// Of a block of columns that leaves other multiprocessors without any.
constexpr int kMostThreadsOfFew = 1024;

bool IsConstant(const Range& range) {
  return range.begin->kind == ExprKind::kConst &&
         range.end->kind == ExprKind::kConst;
}

int64_t ExtentOf(const Range& range) {
  return static_cast<int64_t>(range.end->number - range.begin->number);
}

bool SameRanges(const Expr& a, const Expr& b) {
  return std::ranges::equal(
      a->ranges, b->ranges, [](const Range& x, const Range& y) {
        return x.var == y.var && Equal(x.begin, y.begin) && Equal(x.end, y.end);
      });
}

bool Contains(const Expr& e, const Expr& part) {
  if (Equal(e, part)) return true;
  return std::ranges::any_of(
      e->args, [&](const Expr& arg) { return Contains(arg, part); });
}

int Threads(int64_t wanted, int least, int most) {
  const auto clamped =
      static_cast<uint64_t>(std::clamp<int64_t>(wanted, least, most));
  return static_cast<int>(std::bit_floor(clamped));
}

class Shaping {
 public:
  explicit Shaping(const LoopNest& nest) : nest_(nest) {}

  std::optional<ReductionShape> Run(const GpuMachine& machine) {
    for (const Expr& value : nest_.values) Collect(value, /*certain=*/true);
    for (const KeptTerms& kept : nest_.kept) Collect(kept.reduce, true);
    if (!fits_ || found_.empty() || !nest_.borders.empty()) return std::nullopt;
    for (const Expr& reduce : found_) AddToPhases(reduce);
    const auto varying = std::ranges::count_if(found_, [&](const Expr& e) {
      return nest_.lane_dim >= 0 && free_.Uses(e, lane().var);
    });
    if (varying != 0 && varying != std::ssize(found_)) return std::nullopt;
    shape_.rows = varying == 0;
    for (const LoopDim& dim : nest_.dims) shape_.points *= dim.extent;
    const bool far = shape_.rows ? ShapeRows() : ShapeColumns(machine);
    // Enough threads, each of which reads what its neighbours do not.
    if (!far && nest_.tasks >= machine.busy_threads() / 2) return std::nullopt;
    return shape_.points < int64_t{1} << 31 ? std::optional(shape_)
                                            : std::nullopt;
  }

 private:
  const LoopDim& lane() const {
    return nest_.dims[static_cast<size_t>(nest_.lane_dim)];
  }

  // Reductions that depend on the nest's loops alone, the inner ones first.
  void Collect(const Expr& e, bool certain) {
    const auto [seen, first] = seen_.emplace(e.get(), certain);
    if (!first && (seen->second || !certain)) return;
    seen->second = certain;
    for (size_t i = 0; i < e->args.size(); ++i) {
      const bool side = e->kind == ExprKind::kSelect && i > 0;
      Collect(e->args[i], certain && (!side || MayPrecede(e, e->args[i])));
    }
    if (e->kind != ExprKind::kReduce || !IsClosed(e)) return;
    if (!std::ranges::all_of(e->ranges, IsConstant)) return;
    int64_t terms = 1;
    for (const Range& range : e->ranges) terms *= ExtentOf(range);
    if (terms < kLeastTerms) return;
    fits_ = fits_ && certain && terms < int64_t{1} << 31 && IsWord(e->dtype);
    const auto same = [&](const Expr& other) { return Equal(e, other); };
    if (std::ranges::none_of(found_, same)) found_.push_back(e);
  }

  // Returns whether a side of a select may be computed whatever the condition
  // says: if that is the same for all results, such as whether a loss is
  // finite, no element is read on one side alone but where numbers in memory
  // say which.
  bool MayPrecede(const Expr& select, const Expr& side) {
    if (!free_.Of(select->args[0]).vars.empty()) return false;
    bool fixed = true;
    VisitLoads(side, [&](const ExprNode& load) {
      VisitLoads(load.args[0], [&](const ExprNode&) { fixed = false; });
    });
    return fixed;
  }

  bool IsClosed(const Expr& reduce) {
    return std::ranges::all_of(free_.Of(reduce).vars, [&](int var) {
      return std::ranges::find(nest_.dims, var, &LoopDim::var) !=
             nest_.dims.end();
    });
  }

  // What shuffles and shared memory take as it is in registers.
  static bool IsWord(DType dtype) {
    return dtype == DType::kF32 || dtype == DType::kF64 ||
           dtype == DType::kI32 || dtype == DType::kI64;
  }

  void AddToPhases(const Expr& reduce) {
    const bool joins = !shape_.phases.empty() &&
                       SameRanges(shape_.phases.back().reduces[0], reduce) &&
                       std::ranges::none_of(shape_.phases.back().reduces,
                                            [&](const Expr& other) {
                                              return Contains(reduce, other);
                                            });
    if (joins) {
      shape_.phases.back().reduces.push_back(reduce);
      return;
    }
    ReductionPhase phase = {{reduce}, reduce->ranges, 1};
    for (const Range& range : phase.ranges) phase.terms *= ExtentOf(range);
    shape_.phases.push_back(std::move(phase));
  }

  // True if neighbouring terms lie side by side in all phases: then one thread
  // for each result would read far apart from its neighbours.
  bool ShapeRows() {
    bool all = true;
    const int lanes = nest_.lanes;
    bool in_vectors = nest_.lane_dim < 0 || lane().extent % lanes == 0;
    for (ReductionPhase& phase : shape_.phases) {
      const auto range = std::ranges::find_if(
          phase.ranges, [&](const Range& r) { return RunsThrough(phase, r); });
      if (range == phase.ranges.end()) {
        all = in_vectors = false;
        continue;
      }
      in_vectors = in_vectors && ExtentOf(*range) % lanes == 0;
      std::rotate(range, range + 1, phase.ranges.end());
    }
    shape_.lanes = in_vectors ? lanes : 1;
    if (nest_.lane_dim >= 0) shape_.points /= lane().extent;
    shape_.threads_of_point =
        Threads(MostTerms() / shape_.lanes / kTermsOfThread, kWarpThreads,
                kMostThreads);
    int points = nest_.kept.empty()
                     ? std::max(1, kMostThreads / 2 / shape_.threads_of_point)
                     : 1;
    while (shape_.points % points != 0) points /= 2;
    shape_.points_of_block = points;
    return all;
  }

  bool ShapeColumns(const GpuMachine& machine) {
    shape_.lanes = lane().extent % nest_.lanes == 0 ? nest_.lanes : 1;
    shape_.points /= shape_.lanes;
    const int64_t wanted = machine.multiprocessors;
    const int64_t least =
        kSectorBytes * nest_.lanes / machine.vector_bytes / shape_.lanes;
    int points = Threads(shape_.points, 1, kWarpThreads);
    while (points > least && shape_.points / points < wanted) points /= 2;
    const bool few = shape_.points / points < wanted / 2;
    shape_.points_of_block = points;
    shape_.threads_of_point =
        Threads(MostTerms() / kTermsOfThread, kWarpThreads / points,
                (few ? kMostThreadsOfFew : kMostThreads) / points);
    return false;
  }

  int64_t MostTerms() const {
    int64_t most = 0;
    for (const ReductionPhase& phase : shape_.phases) {
      most = std::max(most, phase.terms);
    }
    return most;
  }

  // Returns whether more operands are read element by element along the range
  // than not.
  bool RunsThrough(const ReductionPhase& phase, const Range& range) const {
    int score = 0;
    const IntervalOf intervals = [&](int var) -> std::optional<Interval> {
      for (const Range& r : phase.ranges) {
        if (r.var != var) continue;
        return Interval{static_cast<int64_t>(r.begin->number),
                        static_cast<int64_t>(r.end->number) - 1};
      }
      return nest_.Ranges()(var);
    };
    for (const Expr& reduce : phase.reduces) {
      VisitLoads(reduce->args[0], [&](const ExprNode& load) {
        const Affine at = ToAffine(load.args[0], intervals);
        const bool hidden = at.HidesVar(range.var);
        const int64_t stride = at.CoefficientOf(range.var);
        if (hidden || (stride != 0 && stride != 1)) --score;
        if (!hidden && stride == 1) ++score;
      });
    }
    return score > 0;
  }

  const LoopNest& nest_;
  FreeVariables free_;
  std::map<const ExprNode*, bool> seen_;  // … as certain
  std::vector<Expr> found_;
  bool fits_ = true;
  ReductionShape shape_;
};

}  // namespace

std::optional<ReductionShape> ShapeOfReductions(const LoopNest& nest,
                                                const GpuMachine& machine) {
  return Shaping(nest).Run(machine);
}

bool HasReduction(const Expr& e) {
  return e->kind == ExprKind::kReduce ||
         std::ranges::any_of(e->args, HasReduction);
}

}  // namespace mxc
