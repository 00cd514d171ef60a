// SPDX-License-Identifier: Apache-2.0
#include "ir/program/expr.h"

#include <atomic>
#include <bit>
#include <cmath>

#include "ir/program/expr_table.h"
#include "ir/program/integers.h"

namespace mxc {
namespace {

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdull;
}

uint64_t HashOf(const ExprNode& node) {
  uint64_t hash = Mix(static_cast<uint64_t>(node.kind),
                      static_cast<uint64_t>(node.dtype) + 1);
  hash = Mix(hash, static_cast<uint64_t>(node.unary));
  hash = Mix(hash, static_cast<uint64_t>(node.binary));
  hash = Mix(hash, static_cast<uint64_t>(node.reduce));
  hash = Mix(hash, static_cast<uint64_t>(node.index));
  hash = Mix(hash, std::bit_cast<uint64_t>(static_cast<double>(node.number)));
  for (const Expr& arg : node.args) hash = Mix(hash, arg->hash);
  for (const Range& range : node.ranges) {
    hash = Mix(hash, static_cast<uint64_t>(range.var));
    hash = Mix(Mix(hash, range.begin->hash), range.end->hash);
  }
  return hash;
}

Expr Make(ExprNode node) {
  node.hash = HashOf(node);
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

ExprNode Blank(ExprKind kind, DType dtype) {
  ExprNode node;
  node.kind = kind;
  node.dtype = dtype;
  return node;
}

bool IsInteger(DType dtype) { return !IsFloat(dtype); }

bool IsConstNode(const Expr& e) { return e->kind == ExprKind::kConst; }

bool YieldsBool(BinaryOp op) { return op >= BinaryOp::kLess; }

// Identities that hold for integers whatever the values; empty if none does.
Expr IntegerIdentity(BinaryOp op, const Expr& a, const Expr& b) {
  const bool b0 = IsConst(b, 0), b1 = IsConst(b, 1);
  switch (op) {
    case BinaryOp::kAdd:
      if (IsConst(a, 0)) return b;
      return b0 ? a : Expr();
    case BinaryOp::kSub:
      return b0 ? a : Expr();
    case BinaryOp::kMul:
      if (IsConst(a, 1)) return b;
      if (b1) return a;
      if (b0) return b;
      return IsConst(a, 0) ? a : Expr();
    case BinaryOp::kDiv:
      return b1 ? a : Expr();
    case BinaryOp::kMod:
      return b1 ? Constant(0, a->dtype) : Expr();
    case BinaryOp::kAnd:
      if (IsConst(a, 1) || b0) return b;
      return b1 || IsConst(a, 0) ? a : Expr();
    case BinaryOp::kOr:
      if (IsConst(a, 0) || b1) return b;
      return b0 || IsConst(a, 1) ? a : Expr();
    default:
      return {};
  }
}

}  // namespace

Expr::Expr(int64_t value) {
  *this = Constant(static_cast<Element>(value), DType::kI64);
}

Expr Constant(Element value, DType dtype) {
  ExprNode node = Blank(ExprKind::kConst, dtype);
  if (dtype == DType::kF32) value = static_cast<float>(value);
  if (IsFloat(dtype)) value = static_cast<double>(value);
  node.number = value;
  return Make(std::move(node));
}

Expr Var(int var) {
  ExprNode node = Blank(ExprKind::kVar, DType::kI64);
  node.index = var;
  return Make(std::move(node));
}

Expr Load(int operand, DType dtype, std::vector<Expr> indices) {
  ExprNode node = Blank(ExprKind::kLoad, dtype);
  node.index = operand;
  node.args = std::move(indices);
  for (const Expr& i : node.args) MXC_CHECK(i->dtype == DType::kI64);
  return Make(std::move(node));
}

Expr Acc(DType dtype) { return Make(Blank(ExprKind::kAcc, dtype)); }

bool IsDefined(UnaryOp op, DType dtype) {
  if (op == UnaryOp::kHighBits) return dtype == DType::kF64;
  if (op != UnaryOp::kBits) return true;
  return dtype == DType::kF64 || dtype == DType::kF32;
}

bool IsDefined(BinaryOp op, DType dtype) {
  switch (op) {
    case BinaryOp::kMulHigh:
      return dtype == DType::kU32;
    case BinaryOp::kBitAnd:
    case BinaryOp::kBitXor:
    case BinaryOp::kShiftRight:
      return !IsFloat(dtype);
    default:
      return true;
  }
}

Expr Unary(UnaryOp op, Expr x) {
  if (op == UnaryOp::kNot && IsConstNode(x)) {
    return Constant(x->number == 0, DType::kBool);
  }
  if (op == UnaryOp::kNeg && IsConstNode(x) && x->dtype != DType::kBool) {
    const Element negative = -x->number;
    return Constant(IsFloat(x->dtype) ? negative : Wrapped(negative, x->dtype),
                    x->dtype);
  }
  const bool yields_bool = op == UnaryOp::kNot || op == UnaryOp::kIsNan;
  const bool yields_bits = op == UnaryOp::kBits || op == UnaryOp::kHighBits;
  MXC_CHECK(IsDefined(op, x->dtype), "{} of {}", Print(x), ShortName(x->dtype));
  ExprNode node = Blank(ExprKind::kUnary, yields_bool   ? DType::kBool
                                          : yields_bits ? DType::kU32
                                                        : x->dtype);
  node.unary = op;
  node.args = {std::move(x)};
  return Make(std::move(node));
}

Expr Binary(BinaryOp op, Expr a, Expr b) {
  MXC_CHECK(a->dtype == b->dtype, "{} and {} in {} . {}", ShortName(a->dtype),
            ShortName(b->dtype), Print(a), Print(b));
  MXC_CHECK(IsDefined(op, a->dtype), "{} . {} of {}", Print(a), Print(b),
            ShortName(a->dtype));
  const DType dtype = YieldsBool(op) ? DType::kBool : a->dtype;
  if (IsInteger(a->dtype)) {
    if (IsConstNode(a) && IsConstNode(b)) {
      return Constant(IntegerResult(op, a->dtype, a->number, b->number), dtype);
    }
    if (Expr same = IntegerIdentity(op, a, b)) return same;
    // (x + c1) + c2 → x + (c1 + c2)
    if (op == BinaryOp::kAdd && IsConstNode(b) &&
        a->kind == ExprKind::kBinary && a->binary == BinaryOp::kAdd &&
        IsConstNode(a->args[1])) {
      return a->args[0] + (a->args[1] + b);
    }
  }
  ExprNode node = Blank(ExprKind::kBinary, dtype);
  node.binary = op;
  node.args = {std::move(a), std::move(b)};
  return Make(std::move(node));
}

Expr Select(Expr condition, Expr then, Expr otherwise) {
  MXC_CHECK(condition->dtype == DType::kBool);
  MXC_CHECK(then->dtype == otherwise->dtype);
  if (IsConstNode(condition)) return condition->number != 0 ? then : otherwise;
  if (Equal(then, otherwise)) return then;
  ExprNode node = Blank(ExprKind::kSelect, then->dtype);
  node.args = {std::move(condition), std::move(then), std::move(otherwise)};
  return Make(std::move(node));
}

Expr Cast(Expr x, DType dtype) {
  if (x->dtype == dtype) return x;
  if (IsConstNode(x) && IsInteger(x->dtype) && IsInteger(dtype) &&
      dtype != DType::kBool) {
    return Constant(Wrapped(x->number, dtype), dtype);
  }
  if (IsConstNode(x) && dtype != DType::kBool) {
    const bool cut = IsFloat(x->dtype) && !IsFloat(dtype);
    return Constant(cut ? Truncated(x->number, dtype) : x->number, dtype);
  }
  ExprNode node = Blank(ExprKind::kCast, dtype);
  node.args = {std::move(x)};
  return Make(std::move(node));
}

Expr Reduce(ReduceOp op, std::vector<Range> ranges, Expr body) {
  if (ranges.empty()) return body;
  ExprNode node = Blank(ExprKind::kReduce, body->dtype);
  node.reduce = op;
  node.ranges = std::move(ranges);
  node.args = {std::move(body)};
  return Make(std::move(node));
}

int FreshReductionVar() {
  static std::atomic<int> next{kFirstReductionVar};
  return next++;
}

Expr operator+(Expr a, Expr b) { return Binary(BinaryOp::kAdd, a, b); }
Expr operator-(Expr a, Expr b) { return Binary(BinaryOp::kSub, a, b); }
Expr operator*(Expr a, Expr b) { return Binary(BinaryOp::kMul, a, b); }
Expr operator/(Expr a, Expr b) { return Binary(BinaryOp::kDiv, a, b); }
Expr operator%(Expr a, Expr b) { return Binary(BinaryOp::kMod, a, b); }
Expr operator-(Expr a) { return Unary(UnaryOp::kNeg, a); }
Expr operator<(Expr a, Expr b) { return Binary(BinaryOp::kLess, a, b); }
Expr operator<=(Expr a, Expr b) { return Binary(BinaryOp::kLessEqual, a, b); }
Expr operator>(Expr a, Expr b) { return Binary(BinaryOp::kLess, b, a); }
Expr operator>=(Expr a, Expr b) { return Binary(BinaryOp::kLessEqual, b, a); }
Expr operator==(Expr a, Expr b) { return Binary(BinaryOp::kEqual, a, b); }
Expr operator!=(Expr a, Expr b) { return Binary(BinaryOp::kNotEqual, a, b); }
Expr operator&&(Expr a, Expr b) { return Binary(BinaryOp::kAnd, a, b); }
Expr operator||(Expr a, Expr b) { return Binary(BinaryOp::kOr, a, b); }
Expr Max(Expr a, Expr b) { return Binary(BinaryOp::kMax, a, b); }
Expr Min(Expr a, Expr b) { return Binary(BinaryOp::kMin, a, b); }
Expr Pow(Expr a, Expr b) { return Binary(BinaryOp::kPow, a, b); }
Expr Abs(Expr x) { return Unary(UnaryOp::kAbs, x); }
Expr Exp(Expr x) { return Unary(UnaryOp::kExp, x); }
Expr Log(Expr x) { return Unary(UnaryOp::kLog, x); }
Expr Sqrt(Expr x) { return Unary(UnaryOp::kSqrt, x); }
Expr Tanh(Expr x) { return Unary(UnaryOp::kTanh, x); }
Expr BitAnd(Expr a, Expr b) { return Binary(BinaryOp::kBitAnd, a, b); }
Expr BitXor(Expr a, Expr b) { return Binary(BinaryOp::kBitXor, a, b); }
Expr ShiftRight(Expr a, Expr b) { return Binary(BinaryOp::kShiftRight, a, b); }
Expr MulHigh(Expr a, Expr b) { return Binary(BinaryOp::kMulHigh, a, b); }
Expr Lit(double value, const Expr& like) {
  return Constant(value, like->dtype);
}

namespace {

// −0 is not 0, NaN is NaN.
bool SameNumber(Element a, Element b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace

bool Equal(const Expr& a, const Expr& b) {
  if (a.get() == b.get()) return true;
  if (a->hash != b->hash || a->kind != b->kind || a->dtype != b->dtype ||
      a->unary != b->unary || a->binary != b->binary ||
      a->reduce != b->reduce || a->index != b->index ||
      !SameNumber(a->number, b->number) || a->args.size() != b->args.size() ||
      a->ranges.size() != b->ranges.size()) {
    return false;
  }
  for (size_t i = 0; i < a->args.size(); ++i) {
    if (!Equal(a->args[i], b->args[i])) return false;
  }
  for (size_t i = 0; i < a->ranges.size(); ++i) {
    if (a->ranges[i].var != b->ranges[i].var ||
        !Equal(a->ranges[i].begin, b->ranges[i].begin) ||
        !Equal(a->ranges[i].end, b->ranges[i].end)) {
      return false;
    }
  }
  return true;
}

bool IsConst(const Expr& e, Element value) {
  return e->kind == ExprKind::kConst && e->number == value;
}

namespace {

// Each shared subtree once.
template <class F>
void Walk(const Expr& e, ExprSet& seen, const F& f) {
  if (!seen.Insert(e.get())) return;
  for (const Expr& arg : e->args) Walk(arg, seen, f);
  for (const Range& range : e->ranges) {
    Walk(range.begin, seen, f);
    Walk(range.end, seen, f);
  }
  f(*e);
}

}  // namespace

void VisitLoads(const Expr& e, const std::function<void(const ExprNode&)>& f) {
  ExprSet seen;
  Walk(e, seen, [&](const ExprNode& node) {
    if (node.kind == ExprKind::kLoad) f(node);
  });
}

bool HasLoads(const Expr& e) {
  bool found = false;
  VisitLoads(e, [&](const ExprNode&) { found = true; });
  return found;
}

std::vector<Expr> IdentityIndex(int rank) {
  std::vector<Expr> index;
  for (int axis = 0; axis < rank; ++axis) index.push_back(Var(axis));
  return index;
}

bool IsIdentityIndex(const std::vector<Expr>& index) {
  for (size_t axis = 0; axis < index.size(); ++axis) {
    if (index[axis]->kind != ExprKind::kVar) return false;
    if (index[axis]->index != static_cast<int>(axis)) return false;
  }
  return true;
}

int64_t ConstantOperand(const Expr& e, BinaryOp op) {
  const bool is = e->kind == ExprKind::kBinary && e->binary == op &&
                  !IsFloat(e->dtype) && e->args[1]->kind == ExprKind::kConst;
  return is ? static_cast<int64_t>(e->args[1]->number) : 0;
}

std::vector<int> FreeVars(const Expr& e) { return FreeVarTable().Of(e); }

bool UsesVar(const Expr& e, int var) { return FreeVarTable().IsFree(var, e); }

int CountNodes(const Expr& e) {
  int count = 0;
  ExprSet seen;
  Walk(e, seen, [&](const ExprNode&) { ++count; });
  return count;
}

}  // namespace mxc
