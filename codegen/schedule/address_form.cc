// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/address_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "ir/program/integers.h"

namespace mxc {
namespace {

// Rounds of a loop that lanes share, of which each takes a part.
constexpr int64_t kMostShared = 16;

bool IsComparison(BinaryOp op) {
  return op == BinaryOp::kLess || op == BinaryOp::kLessEqual ||
         op == BinaryOp::kEqual || op == BinaryOp::kNotEqual;
}

// The operands of nested max (or min), one by one.
void Components(const Expr& e, BinaryOp op, std::vector<Expr>& out) {
  if (e->kind == ExprKind::kBinary && e->binary == op) {
    Components(e->args[0], op, out);
    Components(e->args[1], op, out);
  } else {
    out.push_back(e);
  }
}

class AddressForm {
 public:
  // The indices of a Load whose own are already in the new variables.
  using Indices = std::vector<Expr>;
  using LowerLoad = std::function<Indices(const ExprNode& load, Indices index,
                                          const IntervalOf& range)>;

  AddressForm(const std::function<Expr(int)>& with, const IntervalOf& range,
              int lane_var, LowerLoad lower_load)
      : with_(with),
        outer_range_(range),
        lane_var_(lane_var),
        lower_load_(std::move(lower_load)) {
    range_ = [this](int var) -> std::optional<Interval> {
      const auto it = reduction_ranges_.find(var);
      if (it != reduction_ranges_.end()) return it->second;
      return outer_range_(var);
    };
  }

  Expr Lower(const Expr& e) {
    const auto it = memo_.find(e.get());
    if (it != memo_.end()) return it->second;
    Expr lowered = LowerNode(e);
    if (lowered->dtype == DType::kI64 && lowered->kind == ExprKind::kBinary) {
      lowered = ToExpr(ToAffine(lowered, range_));
    }
    memo_.emplace(e.get(), lowered);
    return lowered;
  }

 private:
  Expr LowerNode(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kVar:
        return LowerVar(e);
      case ExprKind::kConst:
      case ExprKind::kAcc:
        return e;
      case ExprKind::kUnary:
        return Unary(e->unary, Lower(e->args[0]));
      case ExprKind::kCast:
        return Cast(Lower(e->args[0]), e->dtype);
      case ExprKind::kBinary:
        return LowerBinary(e);
      case ExprKind::kSelect: {
        const Expr condition = Lower(e->args[0]);
        if (IsConst(condition, 1)) return Lower(e->args[1]);
        if (IsConst(condition, 0)) return Lower(e->args[2]);
        return Select(condition, Lower(e->args[1]), Lower(e->args[2]));
      }
      case ExprKind::kLoad: {
        Indices index;
        for (const Expr& arg : e->args) index.push_back(Lower(arg));
        return Load(e->index, e->dtype,
                    lower_load_(*e, std::move(index), range_));
      }
      case ExprKind::kReduce:
        return LowerReduce(e);
    }
    return e;
  }

  Expr LowerVar(const Expr& e) {
    const auto it = renamed_.find(e->index);
    if (it != renamed_.end()) return it->second;
    const Expr replacement = with_(e->index);
    return replacement ? replacement : e;
  }

  // An integer whose difference from another one cannot wrap around: not any
  // i64 that is read.
  bool IsIndex(const Expr& e) const {
    constexpr int64_t kFar = int64_t{1} << 60;
    if (e->dtype != DType::kI64) return false;
    const auto bounds = Bounds(e, range_);
    return bounds && bounds->low > -kFar && bounds->high < kFar;
  }

  Expr LowerBinary(const Expr& e) {
    const Expr a = Lower(e->args[0]), b = Lower(e->args[1]);
    if (IsIndex(a) && IsIndex(b) && IsComparison(e->binary)) {
      return SimplifyComparison(e->binary, a, b, range_);
    }
    return Binary(e->binary, a, b);
  }

  // One range of a reduction: r = start + var, 0 ≤ var < trips, where
  // `condition` (if any) must hold.
  Range LowerRange(const Range& range, Expr& condition) {
    Expr begin = Lower(range.begin), end = Lower(range.end);
    const Affine first = ToAffine(begin, range_);
    const Affine trips = ToAffine(end - begin, range_);
    const int var = range.var;
    if (trips.is_constant() && !first.is_constant()) {
      return Shifted(var, begin, trips.constant);
    }
    if (lane_var_ >= 0 &&
        (UsesVar(begin, lane_var_) || UsesVar(end, lane_var_))) {
      if (auto window = Window(var, begin, end, condition)) return *window;
      if (auto shared = Shared(var, begin, end, condition)) return *shared;
    }
    SetRange(var, begin, end);
    renamed_[var] = Var(var);
    return {var, begin, end};
  }

  void SetRange(int var, const Expr& begin, const Expr& end) {
    const auto low = Bounds(begin, range_), high = Bounds(end, range_);
    reduction_ranges_[var] = std::nullopt;
    if (low && high) {
      reduction_ranges_[var] = Interval{low->low, high->high - 1};
    }
  }

  Range Shifted(int var, const Expr& start, int64_t trips) {
    reduction_ranges_[var] = Interval{0, trips - 1};
    renamed_[var] = ToExpr(ToAffine(Var(var) + start, range_));
    return {var, Expr(0), Expr(trips)};
  }

  // max(a, b) ≤ r < min(c, d) with c − a constant, and the least of these:
  // r = a + var.
  std::optional<Range> Window(int var, const Expr& begin, const Expr& end,
                              Expr& condition) {
    std::vector<Expr> begins, ends;
    Components(begin, BinaryOp::kMax, begins);
    Components(end, BinaryOp::kMin, ends);
    Expr first;
    int64_t least = 0;
    for (const Expr& start : begins) {
      for (const Expr& stop : ends) {
        const Affine trips = ToAffine(stop - start, range_);
        if (!trips.is_constant() || trips.constant < 1) continue;
        if (first.get() != nullptr && trips.constant >= least) continue;
        first = start;
        least = trips.constant;
      }
    }
    if (!first) return std::nullopt;
    const Range window = Shifted(var, first, least);
    RequireWithin(begins, renamed_[var], ends, condition);
    return window;
  }

  void RequireWithin(const std::vector<Expr>& begins, const Expr& r,
                     const std::vector<Expr>& ends, Expr& condition) {
    for (const Expr& low : begins) {
      Require(condition,
              SimplifyComparison(BinaryOp::kLessEqual, low, r, range_));
    }
    for (const Expr& high : ends) {
      Require(condition, SimplifyComparison(BinaryOp::kLess, r, high, range_));
    }
  }

  // A range that differs from lane to lane is short: one that holds all.
  std::optional<Range> Shared(int var, const Expr& begin, const Expr& end,
                              Expr& condition) {
    const auto low = Bounds(begin, range_), high = Bounds(end, range_);
    if (!low || !high || high->high - low->low > kMostShared) {
      return std::nullopt;
    }
    reduction_ranges_[var] = Interval{low->low, high->high - 1};
    renamed_[var] = Var(var);
    RequireWithin({begin}, Var(var), {end}, condition);
    return Range{var, Expr(low->low), Expr(high->high)};
  }

  static void Require(Expr& condition, const Expr& more) {
    condition = condition ? (condition && more) : more;
  }

  Expr LowerReduce(const Expr& e) {
    Expr condition;
    std::vector<Range> ranges;
    for (const Range& range : e->ranges) {
      ranges.push_back(LowerRange(range, condition));
    }
    Expr body = Lower(e->args[0]);
    if (condition) {
      body = Select(condition, body, IdentityOf(e->reduce, e->dtype));
    }
    return Numbered(e->reduce, std::move(ranges), body);
  }

  // Renames the variables to those above all that the body and the bounds bind.
  Expr Numbered(ReduceOp op, std::vector<Range> ranges, const Expr& body) {
    int height = Height(body);
    for (const Range& range : ranges) {
      height = std::max({height, Height(range.begin), Height(range.end)});
    }
    std::unordered_map<int, Expr> names;
    for (size_t i = 0; i < ranges.size(); ++i) {
      const int var = kFirstNestVar + height + static_cast<int>(i);
      names[ranges[i].var] = Var(var);
      ranges[i].var = var;
    }
    const auto rename = [&](const Expr& e) -> Expr {
      if (e->kind != ExprKind::kVar) return {};
      const auto it = names.find(e->index);
      return it == names.end() ? Expr() : it->second;
    };
    Expr reduce = Reduce(op, std::move(ranges), Rewrite(body, rename));
    heights_[reduce.get()] = height + static_cast<int>(reduce->ranges.size());
    kept_.push_back(reduce);
    return reduce;
  }

  // How many numbers the reductions inside use.
  int Height(const Expr& e) {
    const auto it = heights_.find(e.get());
    if (it != heights_.end()) return it->second;
    int height = 0;
    for (const Expr& arg : e->args) height = std::max(height, Height(arg));
    for (const Range& range : e->ranges) {
      height = std::max(height, range.var - kFirstNestVar + 1);
    }
    heights_[e.get()] = height;
    kept_.push_back(e);
    return height;
  }

  const std::function<Expr(int)>& with_;
  const IntervalOf& outer_range_;
  IntervalOf range_;
  int lane_var_;
  LowerLoad lower_load_;
  std::unordered_map<const ExprNode*, Expr> memo_;
  std::unordered_map<int, Expr> renamed_;
  std::map<int, std::optional<Interval>> reduction_ranges_;
  std::unordered_map<const ExprNode*, int> heights_;
  std::vector<Expr> kept_;  // so that addresses in heights_ stay unique
};

// Reductions with variables that are unique again, as AddressForm requires.
Expr WithFreshVars(const Expr& e) {
  return SubstituteVars(e, [](int) { return Expr(); });
}

class Structure {
 public:
  std::string Of(const Expr& e) {
    Visit(e);
    return std::move(text_);
  }

 private:
  // The row of a node; written when it is first met.
  int Visit(const Expr& e) {
    const auto it = rows_.find(e.get());
    if (it != rows_.end()) return it->second;
    std::vector<int> children;
    for (const Range& range : e->ranges) {
      children.push_back(Visit(range.begin));
      children.push_back(Visit(range.end));
    }
    for (const Expr& arg : e->args) children.push_back(Visit(arg));
    text_ += fmt::format(
        "{:x},{:x},{:x},{:x},{:x},{:x},{}", static_cast<int>(e->kind),
        static_cast<int>(e->dtype), static_cast<int>(e->unary),
        static_cast<int>(e->binary), static_cast<int>(e->reduce), e->index,
        ToString(e->number, e->dtype));
    for (const Range& range : e->ranges) {
      text_ += fmt::format(",r{:x}", range.var);
    }
    for (const int child : children) text_ += fmt::format(",{:x}", child);
    text_ += ';';
    const int row = static_cast<int>(rows_.size());
    rows_.emplace(e.get(), row);
    return row;
  }

  std::unordered_map<const ExprNode*, int> rows_;
  std::string text_;
};

}  // namespace

Expr ToAddressForm(const Expr& e, const AddressContext& context) {
  const std::function<Expr(int)> with = [&](int var) {
    const bool index = var < static_cast<int>(context.indices.size());
    return index ? context.indices[static_cast<size_t>(var)] : Expr();
  };
  using Indices = AddressForm::Indices;
  AddressForm form(with, context.range, context.lane_var,
                   [&](const ExprNode& load, const Indices& index,
                       const IntervalOf& range) -> Indices {
                     const Layout& layout =
                         context.layouts[static_cast<size_t>(load.index)];
                     return {ToExpr(OffsetOf(layout, index, range))};
                   });
  return form.Lower(e);
}

Expr Resimplify(const Expr& address_form,
                const std::function<Expr(int var)>& with,
                const IntervalOf& range, int lane_var) {
  const Expr fresh = WithFreshVars(address_form);
  AddressForm form(with, range, lane_var,
                   [](const ExprNode&, AddressForm::Indices index,
                      const IntervalOf&) { return index; });
  return form.Lower(fresh);
}

Expr IdentityOf(ReduceOp op, DType dtype) {
  const Element infinity = std::numeric_limits<Element>::infinity();
  switch (op) {
    case ReduceOp::kSum:
      return Constant(0, dtype);
    case ReduceOp::kProduct:
      return Constant(1, dtype);
    case ReduceOp::kMax:
      return Constant(IsFloat(dtype) ? -infinity : LeastInteger(dtype), dtype);
    case ReduceOp::kMin:
      return Constant(IsFloat(dtype) ? infinity : LargestInteger(dtype), dtype);
  }
  return {};
}

std::string StructureOf(const Expr& e) {
  const std::function<Expr(int)> same = [](int) { return Expr(); };
  const IntervalOf unknown = [](int) { return std::nullopt; };
  // Loads keep their indices: the layouts are no part of the structure.
  return Structure().Of(Resimplify(e, same, unknown, -1));
}

}  // namespace mxc
