// SPDX-License-Identifier: Apache-2.0
#include "codegen/schedule/affine.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace mxc {
namespace {

int64_t FloorDiv(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient * b > a ? quotient - 1 : quotient;
}

int64_t FloorMod(int64_t a, int64_t b) { return a - FloorDiv(a, b) * b; }

bool IsBinary(const Expr& e, BinaryOp op) {
  return e->kind == ExprKind::kBinary && e->binary == op;
}

// x / c or x % c with a positive constant c; 0 for anything else.
int64_t Divisor(const Expr& e, BinaryOp op) {
  if (!IsBinary(e, op) || e->args[1]->kind != ExprKind::kConst) return 0;
  return std::max<int64_t>(0, static_cast<int64_t>(e->args[1]->number));
}

Affine ConstantAffine(int64_t value) {
  Affine a;
  a.constant = value;
  return a;
}

Affine Atom(const Expr& e) {
  if (e->kind == ExprKind::kConst) {
    return ConstantAffine(static_cast<int64_t>(e->number));
  }
  Affine a;
  a.Add(e, 1);
  return a;
}

// The atom of a sum that is a single atom with coefficient 1, else empty.
Expr SingleAtom(const Affine& a) {
  if (a.terms.size() == 1 && a.constant == 0 && a.terms[0].coefficient == 1) {
    return a.terms[0].atom;
  }
  return {};
}

// a = divisor · quotient + rest
struct Split {
  Affine quotient, rest;
};

Split SplitBy(const Affine& a, int64_t divisor) {
  Split split;
  for (const auto& [atom, coefficient] : a.terms) {
    split.quotient.Add(atom, FloorDiv(coefficient, divisor));
    split.rest.Add(atom, FloorMod(coefficient, divisor));
  }
  split.quotient.constant = FloorDiv(a.constant, divisor);
  split.rest.constant = FloorMod(a.constant, divisor);
  return split;
}

// a = factor · multiple + low with 0 ≤ low < factor, where the factor divides
// `divisor`: what lies below it takes no part in the division.
struct Layers {
  int64_t factor = 1;
  Affine multiple, low;
};

std::optional<Layers> LayersOf(const Affine& a, int64_t divisor,
                               const IntervalOf& range) {
  std::vector<int64_t> factors;
  for (const auto& term : a.terms) {
    factors.push_back(std::gcd(term.coefficient, divisor));
  }
  std::ranges::sort(factors, std::greater());
  for (const int64_t factor : factors) {
    if (factor == 1) break;
    Layers layers{factor, {}, {}};
    for (const auto& [atom, coefficient] : a.terms) {
      const bool whole = coefficient % factor == 0;
      (whole ? layers.multiple : layers.low)
          .Add(atom, whole ? coefficient / factor : coefficient);
    }
    layers.multiple.constant = FloorDiv(a.constant, factor);
    layers.low.constant = FloorMod(a.constant, factor);
    const auto bounds = Bounds(layers.low, range);
    if (bounds && bounds->low >= 0 && bounds->high < factor) return layers;
  }
  return std::nullopt;
}

int64_t GcdOfCoefficients(const Affine& a) {
  int64_t gcd = 0;
  for (const auto& term : a.terms) gcd = std::gcd(gcd, term.coefficient);
  return gcd;
}

// Σ (c/g) · atom + ⌊constant / g⌋
Affine DividedBy(const Affine& a, int64_t g) {
  Affine out;
  for (const auto& [atom, c] : a.terms) out.Add(atom, c / g);
  out.constant = FloorDiv(a.constant, g);
  return out;
}

class Normalizer {
 public:
  explicit Normalizer(const IntervalOf& range) : range_(range) {}

  Affine Normal(const Expr& e) {
    switch (e->kind) {
      case ExprKind::kConst:
        return ConstantAffine(static_cast<int64_t>(e->number));
      case ExprKind::kVar: {
        const auto known = range_(e->index);
        if (known && known->low == known->high) {
          return ConstantAffine(known->low);
        }
        return Atom(e);
      }
      case ExprKind::kUnary:
        if (e->unary != UnaryOp::kNeg) return Atom(e);
        return Scaled(Normal(e->args[0]), -1);
      case ExprKind::kBinary:
        return NormalBinary(e);
      default:
        return Atom(e);
    }
  }

 private:
  static Affine Scaled(const Affine& a, int64_t factor) {
    Affine out;
    out.Add(a, factor);
    return out;
  }

  Affine NormalBinary(const Expr& e) {
    const Affine a = Normal(e->args[0]), b = Normal(e->args[1]);
    switch (e->binary) {
      case BinaryOp::kAdd:
        return Sum(a, b, 1);
      case BinaryOp::kSub:
        return Sum(a, b, -1);
      case BinaryOp::kMul:
        if (b.is_constant()) return Scaled(a, b.constant);
        if (a.is_constant()) return Scaled(b, a.constant);
        break;
      case BinaryOp::kDiv:
        if (b.is_constant() && b.constant > 0) return Quotient(a, b.constant);
        break;
      case BinaryOp::kMod:
        if (b.is_constant() && b.constant > 0) return Remainder(a, b.constant);
        break;
      case BinaryOp::kMax:
      case BinaryOp::kMin: {
        const auto bounds = Bounds(Sum(a, b, -1), range_);
        const bool max = e->binary == BinaryOp::kMax;
        if (bounds && bounds->low >= 0) return max ? a : b;
        if (bounds && bounds->high <= 0) return max ? b : a;
        break;
      }
      default:
        break;
    }
    return Atom(Binary(e->binary, ToExpr(a), ToExpr(b)));
  }

  Affine Sum(const Affine& a, const Affine& b, int64_t factor) {
    Affine sum = a;
    sum.Add(b, factor);
    while (JoinQuotientAndRemainder(sum)) {
    }
    return sum;
  }

  // k·c·(y / c) + k·(y % c) → k·y
  bool JoinQuotientAndRemainder(Affine& sum) {
    for (const auto& [atom, k] : sum.terms) {
      const int64_t c = Divisor(atom, BinaryOp::kMod);
      if (c == 0) continue;
      const Affine y = Normal(atom->args[0]);
      const Expr quotient = SingleAtom(Quotient(y, c));
      if (!quotient) continue;
      for (const auto& [other, coefficient] : sum.terms) {
        if (coefficient != k * c || !Equal(other, quotient)) continue;
        const Expr remainder = atom;
        const int64_t factor = k;
        sum.Add(quotient, -factor * c);
        sum.Add(remainder, -factor);
        sum.Add(y, factor);
        return true;
      }
    }
    return false;
  }

  Affine Quotient(const Affine& a, int64_t c) {
    if (c == 1) return a;
    auto [quotient, rest] = SplitBy(a, c);
    if (const auto bounds = Bounds(rest, range_)) {
      const int64_t low = FloorDiv(bounds->low, c);
      if (low == FloorDiv(bounds->high, c)) {
        quotient.constant += low;
        return quotient;
      }
    }
    if (const int64_t g = std::gcd(GcdOfCoefficients(rest), c); g > 1) {
      return Sum(quotient, Quotient(DividedBy(rest, g), c / g), 1);
    }
    if (const Expr atom = SingleAtom(rest)) {
      if (const int64_t d = Divisor(atom, BinaryOp::kDiv)) {
        return Sum(quotient, Quotient(Normal(atom->args[0]), d * c), 1);
      }
      const int64_t d = Divisor(atom, BinaryOp::kMod);
      if (d > 0 && d % c == 0) {  // (y % d) / c = (y / c) % (d / c)
        const Affine y = Quotient(Normal(atom->args[0]), c);
        return Sum(quotient, Remainder(y, d / c), 1);
      }
    }
    if (const auto layers = LayersOf(rest, c, range_)) {
      return Sum(quotient, Quotient(layers->multiple, c / layers->factor), 1);
    }
    return Sum(quotient, Atom(Binary(BinaryOp::kDiv, ToExpr(rest), Expr(c))),
               1);
  }

  Affine Remainder(const Affine& a, int64_t c) {
    if (c == 1) return ConstantAffine(0);
    Affine rest = SplitBy(a, c).rest;
    if (const auto bounds = Bounds(rest, range_)) {
      const int64_t low = FloorDiv(bounds->low, c);
      if (low == FloorDiv(bounds->high, c)) {
        rest.constant -= low * c;
        return rest;
      }
    }
    if (const Expr atom = SingleAtom(rest)) {
      const int64_t d = Divisor(atom, BinaryOp::kMod);
      if (d > 0 && d % c == 0) return Remainder(Normal(atom->args[0]), c);
    }
    if (const auto layers = LayersOf(rest, c, range_)) {
      return Sum(layers->low, Remainder(layers->multiple, c / layers->factor),
                 layers->factor);
    }
    return Atom(Binary(BinaryOp::kMod, ToExpr(rest), Expr(c)));
  }

  const IntervalOf& range_;
};

std::optional<Interval> Hull(std::optional<Interval> a,
                             std::optional<Interval> b) {
  if (!a || !b) return std::nullopt;
  return Interval{std::min(a->low, b->low), std::max(a->high, b->high)};
}

std::optional<Interval> TypeBounds(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return Interval{0, 1};
    case DType::kU8:
      return Interval{0, 255};
    case DType::kI8:
      return Interval{-128, 127};
    default:
      return std::nullopt;
  }
}

// Stands for an unknown bound inside max and min, which may cut it off.
constexpr int64_t kUnbounded = int64_t{1} << 60;

std::optional<Interval> BinaryBounds(const Expr& e, const IntervalOf& range) {
  auto a = Bounds(e->args[0], range), b = Bounds(e->args[1], range);
  if (e->binary == BinaryOp::kMax || e->binary == BinaryOp::kMin) {
    if (!a) a = Interval{-kUnbounded, kUnbounded};
    if (!b) b = Interval{-kUnbounded, kUnbounded};
  }
  if (const int64_t c = Divisor(e, BinaryOp::kMod)) {
    if (a && FloorDiv(a->low, c) == FloorDiv(a->high, c)) {
      return Interval{FloorMod(a->low, c), FloorMod(a->high, c)};
    }
    return Interval{0, c - 1};
  }
  if (!a || !b) return std::nullopt;
  switch (e->binary) {
    case BinaryOp::kMax:
      return Interval{std::max(a->low, b->low), std::max(a->high, b->high)};
    case BinaryOp::kMin:
      return Interval{std::min(a->low, b->low), std::min(a->high, b->high)};
    case BinaryOp::kDiv:
      if (b->low != b->high || b->low <= 0) return std::nullopt;
      return Interval{FloorDiv(a->low, b->low), FloorDiv(a->high, b->low)};
    case BinaryOp::kMul: {
      const auto [low, high] =
          std::minmax({a->low * b->low, a->low * b->high, a->high * b->low,
                       a->high * b->high});
      return Interval{low, high};
    }
    default:
      return std::nullopt;
  }
}

std::optional<Interval> AtomBounds(const Expr& e, const IntervalOf& range) {
  switch (e->kind) {
    case ExprKind::kConst: {
      const auto value = static_cast<int64_t>(e->number);
      return Interval{value, value};
    }
    case ExprKind::kVar:
      return range(e->index);
    case ExprKind::kSelect:
      return Hull(Bounds(e->args[1], range), Bounds(e->args[2], range));
    case ExprKind::kCast:
      if (const auto bounds = TypeBounds(e->args[0]->dtype)) return bounds;
      if (e->args[0]->dtype == DType::kI64) return Bounds(e->args[0], range);
      return std::nullopt;
    case ExprKind::kBinary:
      return BinaryBounds(e, range);
    default:
      return std::nullopt;
  }
}

}  // namespace

void Affine::Add(const Expr& atom, int64_t coefficient) {
  if (coefficient == 0) return;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!Equal(terms[i].atom, atom)) continue;
    terms[i].coefficient += coefficient;
    if (terms[i].coefficient == 0) {
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return;
  }
  terms.push_back({atom, coefficient});
}

void Affine::Add(const Affine& other, int64_t factor) {
  for (const auto& [atom, coefficient] : other.terms) {
    Add(atom, factor * coefficient);
  }
  constant += factor * other.constant;
}

int64_t Affine::CoefficientOf(int var) const {
  for (const auto& [atom, coefficient] : terms) {
    if (atom->kind == ExprKind::kVar && atom->index == var) return coefficient;
  }
  return 0;
}

bool Affine::HidesVar(int var) const {
  return std::ranges::any_of(terms, [&](const Term& term) {
    return term.atom->kind != ExprKind::kVar && UsesVar(term.atom, var);
  });
}

namespace {

// x / d · d + x % d is x.
Affine Rejoined(Affine a, const IntervalOf& range) {
  for (const Affine::Term& rest : a.terms) {
    const int64_t divisor = ConstantOperand(rest.atom, BinaryOp::kMod);
    if (divisor <= 0) continue;
    for (const Affine::Term& quotient : a.terms) {
      if (quotient.coefficient != rest.coefficient * divisor ||
          ConstantOperand(quotient.atom, BinaryOp::kDiv) != divisor ||
          !Equal(quotient.atom->args[0], rest.atom->args[0])) {
        continue;
      }
      const Affine whole = ToAffine(rest.atom->args[0], range);
      const Affine::Term both[] = {rest, quotient};
      for (const auto& [atom, coefficient] : both) a.Add(atom, -coefficient);
      a.Add(whole, both[0].coefficient);
      return Rejoined(std::move(a), range);
    }
  }
  return a;
}

}  // namespace

Affine ToAffine(const Expr& e, const IntervalOf& range) {
  return Rejoined(Normalizer(range).Normal(e), range);
}

Expr ToExpr(const Affine& a) {
  Expr sum;
  for (const auto& [atom, coefficient] : a.terms) {
    const Expr term = atom * Expr(coefficient);
    sum = sum ? sum + term : term;
  }
  if (!sum) return Expr(a.constant);
  return sum + Expr(a.constant);
}

std::optional<Interval> Bounds(const Affine& a, const IntervalOf& range) {
  Interval sum{a.constant, a.constant};
  for (const auto& [atom, coefficient] : a.terms) {
    const auto bounds = AtomBounds(atom, range);
    if (!bounds) return std::nullopt;
    const bool open = bounds->low <= -kUnbounded || bounds->high >= kUnbounded;
    if (open && (a.terms.size() > 1 || coefficient != 1)) return std::nullopt;
    const auto [low, high] =
        std::minmax({bounds->low * coefficient, bounds->high * coefficient});
    sum.low += low;
    sum.high += high;
  }
  return sum;
}

std::optional<Interval> Bounds(const Expr& e, const IntervalOf& range) {
  if (e->dtype != DType::kI64) return TypeBounds(e->dtype);
  return Bounds(ToAffine(e, range), range);
}

Expr SimplifyComparison(BinaryOp op, const Expr& a, const Expr& b,
                        const IntervalOf& range) {
  Affine d = ToAffine(b - a, range);  // a < b ⇔ 0 ≤ b − a − 1
  const bool ordered = op == BinaryOp::kLess || op == BinaryOp::kLessEqual;
  if (op == BinaryOp::kLess) d.constant -= 1;
  const auto bounds = Bounds(d, range);
  const auto truth = [](bool value) {
    return Constant(value ? 1 : 0, DType::kBool);
  };
  if (ordered) {
    if (bounds && bounds->low >= 0) return truth(true);
    if (bounds && bounds->high < 0) return truth(false);
    if (const int64_t g = GcdOfCoefficients(d); g > 1) d = DividedBy(d, g);
    return Binary(BinaryOp::kLessEqual, Expr(0), ToExpr(d));
  }
  const bool wants_equal = op == BinaryOp::kEqual;
  if (bounds && (bounds->low > 0 || bounds->high < 0)) {
    return truth(!wants_equal);
  }
  if (d.is_constant()) return truth((d.constant == 0) == wants_equal);
  return Binary(op, Expr(0), ToExpr(d));
}

Affine OffsetOf(const Layout& layout, const std::vector<Expr>& index,
                const IntervalOf& range) {
  // An index may be followed by variables of reductions.
  std::vector<Expr> rest;
  for (size_t axis = 0; axis < layout.halo_low.size(); ++axis) {
    rest.push_back(index[axis] + Expr(layout.halo_low[axis]));
  }
  Expr offset(0);
  const Extents strides = layout.strides();
  for (size_t i = layout.dims.size(); i-- > 0;) {
    const auto& [axis, extent, span] = layout.dims[i];
    bool outermost = true;
    for (size_t j = 0; j < i; ++j) outermost &= layout.dims[j].axis != axis;
    Expr part = outermost ? rest[axis] : rest[axis] % Expr(extent);
    offset = offset + part * Expr(strides[i]);
    if (!outermost) rest[axis] = rest[axis] / Expr(extent);
  }
  return ToAffine(offset, range);
}

}  // namespace mxc
