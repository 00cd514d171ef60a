// SPDX-License-Identifier: Apache-2.0
// Simplification of index arithmetic by intervals and linear forms.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "ir/program/expr.h"
#include "ir/program/expr_table.h"

namespace mxc {
namespace {

using MaybeInterval = std::optional<Interval>;

constexpr int64_t kHuge = int64_t{1} << 52;

int64_t FloorDivide(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

MaybeInterval Bounded(int64_t low, int64_t high) {
  if (low < -kHuge || high > kHuge) return std::nullopt;
  return Interval{low, high};
}

class Simplifier {
 public:
  explicit Simplifier(const IntervalOf& range) : range_(range) {}

  Expr Run(const Expr& e) {
    if (e->args.empty()) return e;
    if (const Entry* known = memo_.Find(e.get())) return known->result;
    Expr result = Visit(e);
    memo_.Add(e.get(), Entry{e, result});
    return result;
  }

 private:
  struct Entry {
    Expr keep_alive, result;
  };

  Expr Visit(const Expr& e) {
    if (e->kind == ExprKind::kReduce) return VisitReduce(e);
    std::vector<Expr> args;
    args.reserve(e->args.size());
    bool changed = false;
    for (const Expr& arg : e->args) {
      args.push_back(Run(arg));
      changed |= args.back().get() != arg.get();
    }
    const bool indices = e->kind == ExprKind::kBinary &&
                         IsIndex(e->args[0]->dtype) && !IsOnBits(e->binary);
    if (!changed && !indices) return e;
    switch (e->kind) {
      case ExprKind::kLoad:
        return Load(e->index, e->dtype, std::move(args));
      case ExprKind::kUnary:
        return Unary(e->unary, args[0]);
      case ExprKind::kCast:
        return Cast(args[0], e->dtype);
      case ExprKind::kSelect:
        return Select(args[0], args[1], args[2]);
      case ExprKind::kBinary:
        return VisitBinary(e->binary, args[0], args[1]);
      default:
        return e;
    }
  }

  Expr VisitReduce(const Expr& e) {
    std::vector<Range> ranges;
    bool changed = false;
    for (const Range& range : e->ranges) {
      ranges.push_back({range.var, Run(range.begin), Run(range.end)});
      changed |= ranges.back().begin.get() != range.begin.get() ||
                 ranges.back().end.get() != range.end.get();
      const MaybeInterval low = Of(ranges.back().begin);
      const MaybeInterval high = Of(ranges.back().end);
      if (low && high && low->low < high->high) {
        bound_[range.var] = Interval{low->low, high->high - 1};
      }
    }
    Expr body = Run(e->args[0]);
    if (!changed && body.get() == e->args[0].get()) return e;
    return Reduce(e->reduce, std::move(ranges), std::move(body));
  }

  // A sum Σ coefficient · term + constant; terms are not sums themselves.
  struct Linear {
    std::vector<std::pair<Expr, int64_t>> terms;
    int64_t constant = 0;

    void Add(const Expr& term, int64_t coefficient) {
      for (auto& [t, c] : terms) {
        if (Equal(t, term)) {
          c += coefficient;
          return;
        }
      }
      terms.emplace_back(term, coefficient);
    }
  };

  static void Collect(const Expr& e, int64_t scale, Linear& out) {
    if (e->kind == ExprKind::kConst) {
      out.constant += scale * static_cast<int64_t>(e->number);
      return;
    }
    if (e->kind == ExprKind::kBinary) {
      const Expr &a = e->args[0], &b = e->args[1];
      if (e->binary == BinaryOp::kAdd || e->binary == BinaryOp::kSub) {
        Collect(a, scale, out);
        Collect(b, e->binary == BinaryOp::kAdd ? scale : -scale, out);
        return;
      }
      if (e->binary == BinaryOp::kMul && b->kind == ExprKind::kConst) {
        Collect(a, scale * static_cast<int64_t>(b->number), out);
        return;
      }
      if (e->binary == BinaryOp::kMul && a->kind == ExprKind::kConst) {
        Collect(b, scale * static_cast<int64_t>(a->number), out);
        return;
      }
    }
    out.Add(e, scale);
  }

  // (x / d) · d + x % d is x.
  static Linear Rejoined(Linear linear) {
    for (size_t r = 0; r < linear.terms.size(); ++r) {
      const Expr rest = linear.terms[r].first;
      const int64_t scale = linear.terms[r].second;
      const int64_t divisor = ConstantOperand(rest, BinaryOp::kMod);
      if (divisor <= 0 || scale == 0) continue;
      const auto quotient =
          std::ranges::find_if(linear.terms, [&](const auto& term) {
            return term.second == scale * divisor &&
                   ConstantOperand(term.first, BinaryOp::kDiv) == divisor &&
                   Equal(term.first->args[0], rest->args[0]);
          });
      if (quotient == linear.terms.end()) continue;
      quotient->second = 0;
      linear.terms[r].second = 0;
      Collect(rest->args[0], scale, linear);
    }
    return linear;
  }

  static Expr Build(const Linear& linear, DType dtype) {
    Expr sum;
    for (const auto& [term, c] : linear.terms) {
      if (c == 0) continue;
      Expr part =
          c == 1 ? term : term * Constant(static_cast<double>(c), dtype);
      sum = sum ? sum + part : part;
    }
    const Expr constant = Constant(static_cast<double>(linear.constant), dtype);
    if (!sum) return constant;
    return linear.constant == 0 ? sum : sum + constant;
  }

  // Splits a linear form into the part whose coefficients `divisor` divides,
  // and the rest.
  static std::pair<Linear, Linear> SplitMultiples(const Linear& linear,
                                                  int64_t divisor) {
    Linear multiple, rest;
    for (const auto& [term, c] : linear.terms) {
      (c % divisor == 0 ? multiple : rest).terms.emplace_back(term, c);
    }
    const int64_t quotient = FloorDivide(linear.constant, divisor);
    multiple.constant = quotient * divisor;
    rest.constant = linear.constant - multiple.constant;
    return {multiple, rest};
  }

  // x / d and x % d where the sum's parts that d divides can be taken out and
  // the rest lies within one period.
  Expr DivideOrMod(BinaryOp op, const Expr& a, const Expr& b) {
    if (b->kind != ExprKind::kConst || b->number <= 0) return {};
    const auto divisor = static_cast<int64_t>(b->number);
    Linear linear;
    Collect(a, 1, linear);
    const auto [multiple, rest] = SplitMultiples(linear, divisor);
    const Expr remainder = Build(rest, a->dtype);
    const MaybeInterval interval = Of(remainder);
    if (!interval) return {};
    const int64_t first = FloorDivide(interval->low, divisor);
    if (first != FloorDivide(interval->high, divisor)) {
      // Taking out multiples still simplifies a modulus.
      if (op == BinaryOp::kMod && !multiple.terms.empty()) {
        return Binary(op, remainder, b);
      }
      if (op == BinaryOp::kDiv && !multiple.terms.empty()) {
        Linear quotient = Divided(multiple, divisor);
        return Build(quotient, a->dtype) + Binary(op, remainder, b);
      }
      return {};
    }
    if (op == BinaryOp::kMod) {
      return remainder -
             Constant(static_cast<double>(first * divisor), a->dtype);
    }
    Linear quotient = Divided(multiple, divisor);
    quotient.constant += first;
    return Build(quotient, a->dtype);
  }

  static Linear Divided(Linear linear, int64_t divisor) {
    for (auto& [term, c] : linear.terms) c /= divisor;
    linear.constant /= divisor;
    return linear;
  }

  static bool IsIndex(DType dtype) {
    return dtype == DType::kI64 || dtype == DType::kI32;
  }

  static bool IsOnBits(BinaryOp op) {
    return op >= BinaryOp::kBitAnd && op <= BinaryOp::kMulHigh;
  }

  Expr VisitBinary(BinaryOp op, const Expr& a, const Expr& b) {
    if (!IsIndex(a->dtype) || IsOnBits(op)) return Binary(op, a, b);
    switch (op) {
      case BinaryOp::kAdd:
      case BinaryOp::kSub:
      case BinaryOp::kMul: {
        const Expr e = Binary(op, a, b);
        if (e->kind != ExprKind::kBinary) return e;
        Linear linear;
        Collect(e, 1, linear);
        return Build(Rejoined(std::move(linear)), a->dtype);
      }
      case BinaryOp::kDiv:
      case BinaryOp::kMod:
        if (Expr e = DivideOrMod(op, a, b)) return e;
        return Binary(op, a, b);
      default:
        return Compare(op, a, b);
    }
  }

  Expr Compare(BinaryOp op, const Expr& a, const Expr& b) {
    const Expr difference = VisitBinary(BinaryOp::kSub, a, b);
    const MaybeInterval d = Of(difference);
    if (d) {
      switch (op) {
        case BinaryOp::kLess:
          if (d->high < 0) return Constant(1, DType::kBool);
          if (d->low >= 0) return Constant(0, DType::kBool);
          break;
        case BinaryOp::kLessEqual:
          if (d->high <= 0) return Constant(1, DType::kBool);
          if (d->low > 0) return Constant(0, DType::kBool);
          break;
        case BinaryOp::kEqual:
          if (d->low == 0 && d->high == 0) return Constant(1, DType::kBool);
          if (d->low > 0 || d->high < 0) return Constant(0, DType::kBool);
          break;
        case BinaryOp::kNotEqual:
          if (d->low == 0 && d->high == 0) return Constant(0, DType::kBool);
          if (d->low > 0 || d->high < 0) return Constant(1, DType::kBool);
          break;
        case BinaryOp::kMax:
          if (d->low >= 0) return a;
          if (d->high <= 0) return b;
          break;
        case BinaryOp::kMin:
          if (d->low >= 0) return b;
          if (d->high <= 0) return a;
          break;
        default:
          break;
      }
    }
    return Binary(op, a, b);
  }

  MaybeInterval Of(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kConst: {
        if (std::fabs(e->number) > static_cast<double>(kHuge)) {
          return std::nullopt;
        }
        const auto value = static_cast<int64_t>(e->number);
        return Interval{value, value};
      }
      case ExprKind::kVar: {
        if (const auto it = bound_.find(e->index); it != bound_.end()) {
          return it->second;
        }
        return range_(e->index);
      }
      case ExprKind::kBinary:
        return OfBinary(e);
      case ExprKind::kSelect: {
        const MaybeInterval a = Of(e->args[1]), b = Of(e->args[2]);
        if (!a || !b) return std::nullopt;
        return Interval{std::min(a->low, b->low), std::max(a->high, b->high)};
      }
      default:
        return std::nullopt;
    }
  }

  MaybeInterval OfBinary(const Expr& e) {
    const MaybeInterval a = Of(e->args[0]), b = Of(e->args[1]);
    if (!a || !b || IsFloat(e->args[0]->dtype)) return std::nullopt;
    switch (e->binary) {
      case BinaryOp::kAdd:
        return Bounded(a->low + b->low, a->high + b->high);
      case BinaryOp::kSub:
        return Bounded(a->low - b->high, a->high - b->low);
      case BinaryOp::kMul: {
        const double products[] = {
            static_cast<double>(a->low) * static_cast<double>(b->low),
            static_cast<double>(a->low) * static_cast<double>(b->high),
            static_cast<double>(a->high) * static_cast<double>(b->low),
            static_cast<double>(a->high) * static_cast<double>(b->high)};
        const double low = *std::ranges::min_element(products);
        const double high = *std::ranges::max_element(products);
        const double huge = static_cast<double>(kHuge);
        if (low < -huge || high > huge) return std::nullopt;
        return Interval{static_cast<int64_t>(low), static_cast<int64_t>(high)};
      }
      case BinaryOp::kDiv:
        if (b->low != b->high || b->low <= 0) return std::nullopt;
        return Interval{FloorDivide(a->low, b->low),
                        FloorDivide(a->high, b->low)};
      case BinaryOp::kMod:
        if (b->low != b->high || b->low <= 0) return std::nullopt;
        if (a->low >= 0 && a->high < b->low) return a;
        return Interval{0, b->low - 1};
      case BinaryOp::kMax:
        return Interval{std::max(a->low, b->low), std::max(a->high, b->high)};
      case BinaryOp::kMin:
        return Interval{std::min(a->low, b->low), std::min(a->high, b->high)};
      default:
        return std::nullopt;
    }
  }

  const IntervalOf& range_;
  std::map<int, Interval> bound_;
  ExprTable<Entry> memo_;
};

}  // namespace

Expr Simplify(const Expr& e, const IntervalOf& range) {
  return Simplifier(range).Run(e);
}

}  // namespace mxc
