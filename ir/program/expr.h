// SPDX-License-Identifier: Apache-2.0
// Kernel IR, expressions: one element of a tensor as a function of its index.
//
// An expression is an immutable tree that shares subtrees. Index variables are
// 64-bit integers; variable k < kFirstReductionVar is the k-th axis of the
// store being defined, higher ones are bound by the reduction that names them.
// Values have an element type; arithmetic does not convert, Cast does. Integers
// wrap around.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph/tensor.h"

namespace mxc {

enum class ExprKind : uint8_t {
  kConst,  // `number`
  kVar,    // `index`: the variable
  kLoad,   // element `args` (one i64 for each axis) of operand `index`
  kAcc,    // the accumulator of the contraction whose epilogue this is
  kUnary,
  kBinary,
  kSelect,  // args: condition, then, else; only the chosen side is evaluated
  kCast,    // args[0] converted to `dtype`; floats to integers: Truncated
  kReduce,  // combines args[0] over `ranges`, in index order
};

enum class UnaryOp : uint8_t {
  kNeg,
  kAbs,
  kSign,
  kNot,
  kFloor,
  kCeil,
  kTrunc,
  kRound /* half away from zero */,
  kRoundEven /* half to the even one */,
  kSqrt,
  kCbrt,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kLog2,
  kLog10,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kErfinv,
  kGamma,
  kLogGamma,
  kDigamma,  // the slope of log Γ
  kIsNan,
  kBits,      // u32: the lowest 32 bits of an f32 or f64, as in memory
  kHighBits,  // u32: the upper 32 bits of an f64
};

enum class BinaryOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,  // integers: rounded towards minus infinity; x / 0 = 0
  kMod,  // sign of the divisor (Python); x mod 0 = 0 for floats
  kPow,
  kMax,
  kMin,  // NaN if either is NaN
  kBitAnd,
  kBitXor,      // of integers, as two's complement
  kShiftRight,  // of integers; zeros enter, also by more than all bits
  kMulHigh,     // of u32: the upper half of the product
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,  // yield bool
};

enum class ReduceOp : uint8_t { kSum, kProduct, kMax, kMin };

struct ExprNode;

class Expr {
 public:
  Expr() = default;
  explicit Expr(std::shared_ptr<const ExprNode> node)
      : node_(std::move(node)) {}
  Expr(int64_t value);  // an i64 constant
  Expr(int value) : Expr(static_cast<int64_t>(value)) {}

  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode& operator*() const { return *node_; }
  const ExprNode* get() const { return node_.get(); }
  explicit operator bool() const { return node_ != nullptr; }

 private:
  std::shared_ptr<const ExprNode> node_;
};

inline constexpr int kFirstReductionVar = 64;

// Variable `var` runs over begin ≤ var < end; the bounds may use variables
// bound outside the reduction, and Loads of integers.
struct Range {
  int var = 0;
  Expr begin, end;
};

struct ExprNode {
  ExprKind kind;
  DType dtype;  // of the value: kF32, kF64, kI32, kI64, kBool …
  UnaryOp unary{};
  BinaryOp binary{};
  ReduceOp reduce{};
  int index = 0;
  Element number = 0;
  std::vector<Expr> args;
  std::vector<Range> ranges;
  uint64_t hash = 0;  // structural
};

// --- construction, with constant folding and algebraic identities on integers
Expr Constant(Element value, DType dtype = DType::kF32);
Expr Var(int var);
Expr Load(int operand, DType dtype, std::vector<Expr> indices);
Expr Acc(DType dtype = DType::kF32);
Expr Unary(UnaryOp op, Expr x);
// Returns whether there is such an operation on values of that type.
bool IsDefined(UnaryOp op, DType dtype);
bool IsDefined(BinaryOp op, DType dtype);
Expr Binary(BinaryOp op, Expr a, Expr b);
Expr Select(Expr condition, Expr then, Expr otherwise);
Expr Cast(Expr x, DType dtype);
Expr Reduce(ReduceOp op, std::vector<Range> ranges, Expr body);
// A variable that no other expression of this process binds.
int FreshReductionVar();

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator%(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator==(Expr a, Expr b);
Expr operator!=(Expr a, Expr b);
Expr operator&&(Expr a, Expr b);
Expr operator||(Expr a, Expr b);
Expr Max(Expr a, Expr b);
Expr Min(Expr a, Expr b);
Expr Pow(Expr a, Expr b);
Expr Abs(Expr x);
Expr Exp(Expr x);
Expr Log(Expr x);
Expr Sqrt(Expr x);
Expr Tanh(Expr x);
Expr BitAnd(Expr a, Expr b);
Expr BitXor(Expr a, Expr b);
Expr ShiftRight(Expr a, Expr b);
Expr MulHigh(Expr a, Expr b);
// A float literal of the type of `like`.
Expr Lit(double value, const Expr& like);

// i0, i1, …, of so many axes; whether it is that: element i of what is read goes
// into element i of what is written.
std::vector<Expr> IdentityIndex(int rank);
bool IsIdentityIndex(const std::vector<Expr>& index);

// --- inspection
bool Equal(const Expr& a, const Expr& b);  // structurally
bool IsConst(const Expr& e, Element value);
void VisitLoads(const Expr& e, const std::function<void(const ExprNode&)>& f);
bool HasLoads(const Expr& e);
bool UsesVar(const Expr& e, int var);
// The integer c of `e` = x op c; 0 where it is no such expression.
int64_t ConstantOperand(const Expr& e, BinaryOp op);
// Free variables, ascending.
std::vector<int> FreeVars(const Expr& e);
int CountNodes(const Expr& e);  // shared subtrees once

// --- rewriting
// Replaces nodes from the leaves up: `f` returns the replacement, or an empty
// Expr to keep the node (with its rewritten children).
Expr Rewrite(const Expr& e, const std::function<Expr(const Expr&)>& f);
// Free variable k becomes `with[k]`; reductions get fresh variables.
Expr SubstituteVars(const Expr& e, const std::function<Expr(int var)>& with);
// The same expression with its reduction variables numbered from
// kFirstReductionVar in order of appearance: equal for expressions that differ
// in the names of bound variables only.
Expr Canonical(const Expr& e);
// Simplifies integers given the range of each variable: (8·b + l) / 8 → b for
// 0 ≤ l < 8, comparisons that always hold, and so on.
struct Interval {
  int64_t low = 0, high = 0;  // inclusive
};
using IntervalOf = std::function<std::optional<Interval>(int var)>;
Expr Simplify(const Expr& e, const IntervalOf& range);

// "max(%0[i0, i1] + 1, 0)"; parse.cc reads it back.
std::string Print(const Expr& e);

}  // namespace mxc
