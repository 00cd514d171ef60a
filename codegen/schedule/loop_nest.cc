// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/loop_nest.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "codegen/schedule/deal_tasks.h"
#include "codegen/schedule/free_variables.h"
#include "codegen/schedule/index_expressions.h"
#include "codegen/schedule/join_stores.h"
#include "codegen/schedule/kept_terms.h"
#include "codegen/schedule/lane_runs.h"
#include "ir/program/steps/map.h"
#include "ir/support/check.h"
#include "ir/support/division.h"

namespace mxc {
namespace {

Expr Same(int) { return {}; }

class Scheduler {
 public:
  Scheduler(const Shape& shape, std::span<const NestOperand> operands,
            const Machine& machine, const Dealing& dealing, bool masked_tails)
      : shape_(shape),
        operands_(operands),
        machine_(machine),
        dealing_(dealing),
        masked_tails_(masked_tails) {
    for (const NestOperand& operand : operands) {
      layouts_.push_back(operand.layout);
    }
  }

  LoopNest Schedule(std::span<const NestOutput> outputs) {
    for (const NestOutput& output : outputs) {
      nest_.outputs.push_back(output.operand);
    }
    const std::vector<Expr> indices = OverPhysicalDims();
    for (const NestOutput& output : outputs) {
      const Expr value = GuardPadding(JoinStores(output.stores, shape_));
      const Expr form =
          ToAddressForm(value, {layouts_, indices, nest_.Ranges(), -1});
      nest_.values.push_back(CutReductions(form, nest_.Ranges(), -1));
    }
    CutDims();
    MergeDims();
    ChooseLanes();
    OrderDims();
    DealTasks(machine_, nest_, shape_, layout());
    return std::move(nest_);
  }

 private:
  const Layout& layout() const {
    return layouts_[static_cast<size_t>(nest_.outputs[0])];
  }

  // A loop for each dimension, inside of the halo; the logical indices in terms
  // of the loops.
  std::vector<Expr> OverPhysicalDims() {
    const Layout& layout = this->layout();
    const Extents strides = layout.strides();
    std::vector<Expr> indices(static_cast<size_t>(shape_.rank()), Expr(0));
    for (size_t i = 0; i < layout.dims.size(); ++i) {
      const auto& [axis, padded, span] = layout.dims[i];
      const auto a = static_cast<size_t>(axis);
      const int64_t low = layout.halo_low[a], high = layout.halo_high[a];
      const int64_t extent = padded - low - high;
      nest_.base += low * strides[i];
      AddBorder(i, low, high);
      // The parts of an axis come from the most significant one down.
      indices[a] = indices[a] * Expr(extent);
      if (extent == 1) continue;
      nest_.dims.push_back({next_var_, extent, strides[i]});
      indices[a] = indices[a] + Var(next_var_++);
    }
    return indices;
  }

  void AddBorder(size_t dim, int64_t low, int64_t high) {
    if (low == 0 && high == 0) return;
    const Layout& layout = this->layout();
    const int64_t stride = layout.strides()[dim];
    const int64_t high_from = (layout.dims[dim].extent - high) * stride;
    ZeroBorder border;
    AddRows(0, dim, border);
    if (!layout.has_gaps(dim + 1)) {
      border.low = low * stride;
      border.high = high * stride;
      border.high_from = high_from;
      nest_.borders.push_back(border);
      return;
    }
    // Elements of others lie in between: line by line.
    size_t lines = layout.dims.size();
    while (!layout.has_gaps(lines - 1)) --lines;
    const auto add = [&](int64_t from, int64_t count) {
      ZeroBorder part = border;
      part.around.push_back({count, stride});
      AddRows(dim + 1, lines - 1, part);
      part.high = layout.dims[lines - 1].extent * layout.strides()[lines - 1];
      part.high_from = from;
      if (count > 0) nest_.borders.push_back(part);
    };
    add(0, low);
    add(high_from, high);
  }

  // Dims `first` up to `last` as rows; neighbours become one where rows are
  // evenly apart.
  void AddRows(size_t first, size_t last, ZeroBorder& border) const {
    const Extents strides = layout().strides();
    for (size_t i = first; i < last; ++i) {
      const ZeroBorder::Rows rows{layout().dims[i].extent, strides[i]};
      if (rows.extent == 1) continue;
      if (!border.around.empty() &&
          border.around.back().stride == rows.extent * rows.stride) {
        border.around.back() = {border.around.back().extent * rows.extent,
                                rows.stride};
      } else {
        border.around.push_back(rows);
      }
    }
  }

  // Lanes that only fill up a block get zero.
  Expr GuardPadding(const Expr& value) {
    Expr inside = Constant(1, DType::kBool);
    for (int axis = 0; axis < shape_.rank(); ++axis) {
      int64_t product = 1;
      for (const auto& dim : layout().dims) {
        if (dim.axis == axis) product *= dim.extent;
      }
      const auto a = static_cast<size_t>(axis);
      product -= layout().halo_low[a] + layout().halo_high[a];
      if (product > shape_[axis]) {
        inside = inside && Var(axis) < Expr(shape_[axis]);
      }
    }
    return Select(inside, value, Constant(0, value->dtype));
  }

  size_t DimOf(int var) const {
    const auto it = std::ranges::find(nest_.dims, var, &LoopDim::var);
    return static_cast<size_t>(it - nest_.dims.begin());
  }

  void Rewrite(const std::function<Expr(int var)>& with, int lane_var = -1) {
    for (Expr& value : nest_.values) {
      value = Resimplify(value, with, nest_.Ranges(), lane_var);
    }
  }

  // Returns whether a block of channels is better left whole: all loads read it
  // in runs of neighbours.
  bool IsVectorOfRuns(size_t dim) const {
    const LoopDim& last = nest_.dims.back();
    if (dim + 1 < nest_.dims.size() || last.stride != 1) return false;
    if (layout().block(layout().dims.back().axis) != last.extent) return false;
    if (last.extent > NativeLanes()) return false;
    bool runs = true;
    for (const Expr& value : nest_.values) {
      if (FreeVariables().Of(value).reduces) return false;
      VisitLoads(value, [&](const ExprNode& load) {
        const auto lanes =
            LaneRunsOf(load.args[0], last.var, static_cast<int>(last.extent),
                       nest_.Ranges());
        runs &= lanes && lanes->run > 1;
      });
    }
    return runs;
  }

  // Where the divisor does not divide the loop, what both are multiples of
  // still leaves whole vectors.
  std::optional<Cut> NextCut() const {
    constexpr int64_t kLeastCommon = 4;
    const auto divisor = [&](const Cut& c) -> int64_t {
      const size_t i = DimOf(c.var);
      if (i == nest_.dims.size()) return 1;
      const int64_t extent = nest_.dims[i].extent;
      const int64_t common = std::gcd(extent, c.divisor);
      const bool useful = common == c.divisor || common >= kLeastCommon;
      return useful && common < extent ? common : 1;
    };
    const auto cuts = [&](const Cut& c) {
      return divisor(c) > 1 && !IsVectorOfRuns(DimOf(c.var));
    };
    for (const Expr& value : nest_.values) {
      if (const auto cut = FindCut(value, cuts)) {
        return Cut{cut->var, divisor(*cut)};
      }
    }
    return std::nullopt;
  }

  // Where an index is taken apart (a reshape), the loop is too.
  void CutDims() {
    for (int round = 0; round < 8; ++round) {
      const auto cut = NextCut();
      if (!cut) return;
      const size_t i = DimOf(cut->var);
      const LoopDim dim = nest_.dims[i];
      const LoopDim outer{next_var_++, dim.extent / cut->divisor,
                          dim.stride * cut->divisor};
      const LoopDim inner{next_var_++, cut->divisor, dim.stride};
      nest_.dims[i] = outer;
      nest_.dims.insert(nest_.dims.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                        inner);
      Rewrite([&](int v) {
        return v == dim.var
                   ? Var(outer.var) * Expr(cut->divisor) + Var(inner.var)
                   : Expr();
      });
    }
  }

  // Neighbours p, q become one where everything runs on from q's end to p's
  // next step.
  void MergeDims() {
    for (size_t p = nest_.dims.size(); p-- > 0;) {
      while (p + 1 < nest_.dims.size() && CanMerge(p)) {
        const LoopDim outer = nest_.dims[p], inner = nest_.dims[p + 1];
        const LoopDim merged{next_var_++, outer.extent * inner.extent,
                             inner.stride};
        nest_.dims[p] = merged;
        nest_.dims.erase(nest_.dims.begin() + static_cast<std::ptrdiff_t>(p) +
                         1);
        Rewrite([&](int v) {
          if (v == outer.var) return Expr(0);
          return v == inner.var ? Var(merged.var) : Expr();
        });
      }
    }
  }

  bool CanMerge(size_t p) const {
    const LoopDim &outer = nest_.dims[p], &inner = nest_.dims[p + 1];
    if (outer.stride != inner.stride * inner.extent) return false;
    if (PrefersRows(shape_, layout()) && outer.stride >= layout().strides()[1])
      return false;
    const IntervalOf ranges = nest_.Ranges();
    const auto runs_on = [&](const Expr& e) {
      const Affine a = ToAffine(e, ranges);
      return !a.HidesVar(outer.var) && !a.HidesVar(inner.var) &&
             a.CoefficientOf(outer.var) ==
                 a.CoefficientOf(inner.var) * inner.extent;
    };
    return std::ranges::all_of(nest_.values, [&](const Expr& value) {
      return std::ranges::all_of(IndexExpressions(value), runs_on);
    });
  }

  // How loads take to lanes along `var`: those in reductions, which run often,
  // against what the reduction's own innermost variable would give.
  struct Votes {
    int smooth = 0, jumping = 0, smooth_in_reduction = 0;
  };
  Votes Poll(int var) const {
    Votes votes;
    std::set<const ExprNode*> seen;
    for (const Expr& value : nest_.values) {
      CountLoads(value, var, {}, seen, votes);
    }
    return votes;
  }

  void CountLoads(const Expr& e, int var, const std::vector<Range>& around,
                  std::set<const ExprNode*>& seen, Votes& votes) const {
    if (!seen.insert(e.get()).second) return;
    if (e->kind == ExprKind::kLoad) {
      const Affine a = ToAffine(e->args[0], nest_.Ranges());
      const int64_t stride = a.CoefficientOf(var);
      const bool smooth = !a.HidesVar(var) && (stride == 0 || stride == 1);
      const bool along_reduction =
          std::ranges::any_of(around, [&](const Range& range) {
            return !a.HidesVar(range.var) && a.CoefficientOf(range.var) == 1;
          });
      // What all terms share is read once.
      const bool is_term = std::ranges::any_of(around, [&](const Range& range) {
        return a.HidesVar(range.var) || a.CoefficientOf(range.var) != 0;
      });
      if (!around.empty()) {
        votes.smooth += smooth && is_term;
        votes.jumping += !smooth;
        votes.smooth_in_reduction += along_reduction;
      }
    }
    std::vector<Range> inner = around;
    inner.insert(inner.end(), e->ranges.begin(), e->ranges.end());
    for (const Expr& arg : e->args) CountLoads(arg, var, inner, seen, votes);
  }

  // Vectors of what is written and of what is read from lane to lane; all
  // operands count where a reduction may run over lanes of its own.
  int NativeLanes() const {
    std::vector<DType> types;
    const auto count = [&](int operand) {
      types.push_back(operands_[static_cast<size_t>(operand)].dtype);
    };
    for (const int output : nest_.outputs) count(output);
    for (const Expr& value : nest_.values) {
      const bool reduces = FreeVariables().Of(value).reduces;
      VisitLoads(value, [&](const ExprNode& load) {
        const Affine a = ToAffine(load.args[0], nest_.Ranges());
        if (reduces || !a.is_constant()) count(load.index);
      });
    }
    return dealing_.lanes(machine_, types);
  }

  // Enough for tasks.
  static constexpr int64_t kLeastPairs = 16;
  // Of a row that is read whole.
  static constexpr int64_t kMostVectors = 4;

  void ChooseLanes() {
    const int native = NativeLanes();
    nest_.lanes = native;
    nest_.sum_lanes = dealing_.sums_in_vectors ? native : 1;
    if (native == 1 || nest_.dims.empty()) return;
    if (nest_.dims.back().stride != 1) return;
    const LoopDim& last = nest_.dims.back();
    const Votes votes = Poll(last.var);
    const int least = dealing_.cached_jumps ? votes.smooth : 0;
    if (votes.jumping > 0 && votes.smooth_in_reduction > least) return;
    if (last.extent < native / 2 && votes.smooth_in_reduction > 0) return;
    const auto extent = static_cast<uint64_t>(last.extent);
    const uint64_t fit =
        masked_tails_ ? std::bit_ceil(extent) : std::bit_floor(extent);
    nest_.lanes =
        static_cast<int>(std::min(static_cast<uint64_t>(native), fit));
    const bool twice = dealing_.least_bytes_of_two > 0 &&
                       machine_.vector_bytes >= dealing_.least_bytes_of_two &&
                       last.extent >= kLeastPairs * 2 * nest_.lanes;
    if (twice && masked_tails_ && AreWideSums(votes)) nest_.lanes *= 2;
    if (AreProductsOfRows(votes) && last.extent <= kMostVectors * nest_.lanes &&
        last.extent % nest_.lanes == 0 && std::has_single_bit(extent)) {
      nest_.lanes = static_cast<int>(extent);
    }
    nest_.lane_dim = static_cast<int>(nest_.dims.size()) - 1;
    Rewrite(Same, last.var);
  }

  // Returns whether all that is computed are sums of rows, each times a number, as
  // of a row times a matrix: whole rows are read one after the other then.
  bool AreProductsOfRows(const Votes& votes) const {
    return votes.jumping == 0 && votes.smooth > 0 &&
           std::ranges::all_of(nest_.values, [](const Expr& value) {
             if (value->kind != ExprKind::kReduce) return false;
             const Expr& term = value->args[0];
             return value->reduce == ReduceOp::kSum &&
                    value->dtype == DType::kF32 &&
                    term->kind == ExprKind::kBinary &&
                    term->binary == BinaryOp::kMul &&
                    term->args[0]->kind == ExprKind::kLoad &&
                    term->args[1]->kind == ExprKind::kLoad;
           });
  }

  // Returns whether all that is computed are sums over rows of what lies there, in
  // a wider type, whose order does not show.
  bool AreWideSums(const Votes& votes) const {
    const auto inside = [](const Expr& e) -> const Expr& {
      return e->kind == ExprKind::kCast ? e->args[0] : e;
    };
    return votes.jumping == 0 && votes.smooth > 0 &&
           std::ranges::all_of(nest_.values, [&](const Expr& value) {
             const Expr& sum = inside(value);
             return sum->kind == ExprKind::kReduce &&
                    sum->args[0]->kind == ExprKind::kCast &&
                    inside(sum->args[0])->kind == ExprKind::kLoad;
           });
  }

  // Loops on which no reduction depends go inside, so that it runs once.
  void OrderDims() {
    FreeVariables free;
    std::map<int, int> uses;
    std::set<const ExprNode*> seen;
    const std::function<void(const Expr&)> visit = [&](const Expr& e) {
      if (!seen.insert(e.get()).second) return;
      if (e->kind == ExprKind::kReduce) {
        for (const int var : free.Of(e).vars) ++uses[var];
      }
      for (const Expr& arg : e->args) visit(arg);
    };
    for (const Expr& value : nest_.values) visit(value);
    const int lane_var =
        nest_.lane_dim < 0
            ? -1
            : nest_.dims[static_cast<size_t>(nest_.lane_dim)].var;
    std::ranges::stable_sort(nest_.dims, [&](const auto& a, const auto& b) {
      return uses[a.var] > uses[b.var];
    });
    if (lane_var < 0) return;
    const size_t lane = DimOf(lane_var);
    const LoopDim dim = nest_.dims[lane];
    nest_.one_vector = dim.extent == nest_.lanes ||
                       (dim.extent < nest_.lanes && masked_tails_);
    if (nest_.one_vector) {
      nest_.dims.erase(nest_.dims.begin() + static_cast<std::ptrdiff_t>(lane));
      nest_.dims.push_back(dim);
    }
    nest_.lane_dim = static_cast<int>(DimOf(lane_var));
  }

  const Shape& shape_;
  std::span<const NestOperand> operands_;
  const Machine& machine_;
  const Dealing& dealing_;
  bool masked_tails_;
  std::vector<Layout> layouts_;
  LoopNest nest_;
  int next_var_ = kFirstLoopVar;
};

}  // namespace

int64_t ZeroBorder::rows() const {
  int64_t count = 1;
  for (const Rows& dim : around) count *= dim.extent;
  return count;
}

int64_t LoopNest::GridSize() const {
  int64_t size = row_chunks;
  for (int i = 0; i < grid_dims; ++i) {
    size *= dims[static_cast<size_t>(i)].extent;
  }
  if (lane_chunk > 0) {
    const int64_t extent = dims[static_cast<size_t>(lane_dim)].extent;
    size *= DivideUp(extent, lane_chunk);
  }
  return size;
}

bool LoopNest::IsEven() const {
  return dims.size() == 1 && dims[0].stride == 1 && lane_dim == 0 &&
         row_dim < 0 && borders.empty() && tasks > 1 && tasks == GridSize() &&
         lane_chunk * tasks == dims[0].extent;
}

Affine LoopNest::Offset() const {
  Affine offset;
  for (const LoopDim& dim : dims) offset.Add(Var(dim.var), dim.stride);
  offset.constant = base;
  return offset;
}

IntervalOf LoopNest::Ranges() const {
  return [this](int var) -> std::optional<Interval> {
    const auto it = std::ranges::find(dims, var, &LoopDim::var);
    if (it == dims.end()) return std::nullopt;
    return Interval{0, it->extent - 1};
  };
}

LoopNest ScheduleNest(std::span<const NestOutput> outputs, const Shape& shape,
                      std::span<const NestOperand> operands,
                      const Machine& machine, const Dealing& dealing,
                      bool masked_tails) {
  MXC_CHECK(!outputs.empty());
  LoopNest nest = Scheduler(shape, operands, machine, dealing, masked_tails)
                      .Schedule(outputs);
  std::vector<int> free_outputs;
  for (const NestOutput& output : outputs) {
    if (!output.shares_bytes) free_outputs.push_back(output.operand);
  }
  KeepTerms(nest, operands, free_outputs);
  if (dealing.deal != nullptr) dealing.deal(nest);
  return nest;
}

}  // namespace mxc
