// SPDX-License-Identifier: Apache-2.0
// Bits of integers and the random numbers made of them, compiled.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "ir/program/philox.h"
#include "tests/codegen/map_case.h"

namespace mxc::test {
namespace {

double Scattered(int64_t i, double modulus) {
  const auto u = static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15ull >> 20;
  return static_cast<double>(u % static_cast<uint64_t>(modulus));
}

// 0, 1, … and numbers of any size that the type holds.
double SomeInteger(DType dtype, int64_t i) {
  const double modulus = static_cast<double>(
      uint64_t{1} << std::min<int64_t>(8 * SizeOf(dtype), 40));
  return i < 70 ? static_cast<double>(i) : Scattered(i, modulus / 2);
}

// Any of all 64 bits, the ends of the types among them.
uint64_t SomeWord(int64_t i) {
  constexpr uint64_t kEnds[] = {0,
                                1,
                                ~uint64_t{0},
                                uint64_t{1} << 63,
                                (uint64_t{1} << 63) - 1,
                                (uint64_t{1} << 53) + 1};
  if (i < 36) return kEnds[i % 6];
  uint64_t word = static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15ull;
  word = (word ^ word >> 29) * 0xbf58476d1ce4e5b9ull;
  return (word ^ word >> 32) >> (i % 3 * 11);
}

// What C++ makes of a op b.
template <class Integer>
Integer Plain(BinaryOp op, Integer a, Integer b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (op) {
    case BinaryOp::kAdd:
      return static_cast<Integer>(x + y);
    case BinaryOp::kSub:
      return static_cast<Integer>(x - y);
    case BinaryOp::kMul:
      return static_cast<Integer>(x * y);
    case BinaryOp::kMax:
      return std::max(a, b);
    case BinaryOp::kMin:
      return std::min(a, b);
    case BinaryOp::kLess:
      return a < b;
    case BinaryOp::kEqual:
      return a == b;
    case BinaryOp::kDiv: {
      if (b == 0) return 0;
      if (std::is_signed_v<Integer> && y == ~uint64_t{0}) {
        return static_cast<Integer>(-x);
      }
      const bool below = a % b != 0 && (a < 0) != (b < 0);
      return a / b - (below ? 1 : 0);
    }
    default:
      return 0;
  }
}

constexpr BinaryOp kOfWords[] = {
    BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul,  BinaryOp::kMax,
    BinaryOp::kMin, BinaryOp::kDiv, BinaryOp::kLess, BinaryOp::kEqual};

// Compiled against the interpreter, which computes as constants are folded; and
// those against C++.
template <class Integer>
void CheckWords(DType dtype) {
  const TensorType type{dtype, {150}};
  const Layout plain = Layout::RowMajor(type.shape);
  const auto a = [](int64_t i) { return static_cast<Integer>(SomeWord(i)); };
  const auto b = [](int64_t i) {
    return static_cast<Integer>(SomeWord(i < 36 ? i / 6 : 200 - i));
  };
  for (const BinaryOp op : kOfWords) {
    CAPTURE(static_cast<int>(op));
    MapCase c;
    const auto value = [](auto f) {
      return [f](int64_t i) { return static_cast<Element>(f(i)); };
    };
    const int x = c.In(type, plain, value(a)), y = c.In(type, plain, value(b));
    c.Out(type, plain);
    c.Set(Cast(Binary(op, c.At(x), c.At(y)), dtype));
    CHECK(c.CheckAll(0) == "");
    for (int64_t i = 0; i < 150; ++i) {
      const Expr folded =
          Binary(op, Constant(a(i), dtype), Constant(b(i), dtype));
      CHECK(folded->number ==
            static_cast<Element>(Plain<Integer>(op, a(i), b(i))));
    }
  }
}

}  // namespace

TEST_CASE("integers of 64 bits are exact") {
  CheckWords<int64_t>(DType::kI64);
  CheckWords<uint64_t>(DType::kU64);
}

TEST_CASE("sums of integers of 64 bits are exact") {
  const TensorType type{DType::kI64, {3, 40}};
  MapCase c;
  const int x = c.In(type, Layout::RowMajor(type.shape), [](int64_t i) {
    return static_cast<Element>(static_cast<int64_t>(SomeWord(i)));
  });
  c.Out({DType::kI64, {3}}, Layout::RowMajor({3}));
  c.Set(SumOver(40, [&](Expr r) { return c.At(x, {Var(0), r}); }) +
        Expr((int64_t{1} << 62) + 1));
  CHECK(c.CheckAll(0) == "");
}

TEST_CASE("bitwise operations, shifts and upper halves") {
  for (const DType dtype :
       {DType::kU32, DType::kI32, DType::kI64, DType::kU8}) {
    for (const BinaryOp op : {BinaryOp::kBitAnd, BinaryOp::kBitXor,
                              BinaryOp::kShiftRight, BinaryOp::kMulHigh}) {
      if (op == BinaryOp::kMulHigh && dtype != DType::kU32) continue;
      CAPTURE(static_cast<int>(op));
      CAPTURE(static_cast<int>(dtype));
      MapCase c;
      const TensorType type{dtype, {131}};
      const Layout plain = Layout::RowMajor(type.shape);
      const int x = c.In(
          type, plain, [=](int64_t i) { return SomeInteger(dtype, 130 - i); });
      const int y =
          c.In(type, plain, [=](int64_t i) { return SomeInteger(dtype, i); });
      c.Out(type, plain);
      c.Set(Binary(op, c.At(x), c.At(y)));
      CHECK(c.CheckAll(0) == "");
    }
  }
}

TEST_CASE("each lane is shifted by an amount of its own") {
  for (const DType dtype : {DType::kU8, DType::kI16, DType::kU32}) {
    CAPTURE(ShortName(dtype));
    MapCase c;
    const TensorType type{dtype, {64}};
    const Layout plain = Layout::RowMajor(type.shape);
    const int x = c.In(type, plain,
                       [=](int64_t i) { return SomeInteger(dtype, 63 - i); });
    const int y = c.In(type, plain, [](int64_t i) -> double { return i % 9; });
    c.Out(type, plain);
    c.Out(type, plain);
    c.Set(Binary(BinaryOp::kShiftRight, c.At(x), c.At(y)));
    const double top = dtype == DType::kU8    ? 0x1p7
                       : dtype == DType::kI16 ? -0x1p15
                                              : 0x1p31;
    c.Set(Binary(BinaryOp::kShiftRight, Constant(top, dtype), c.At(y)));
    CHECK(c.CheckAll(0) == "");
  }
}

TEST_CASE("floats that do not fit are cut as on x86") {
  const double values[] = {-2.93, 255.9,    300.7,      -300.2, 65536.5,
                           1e6,   -129,     2147483520, 0x1p31, -0x1p31,
                           3e9,   -3e9,     4294972416, 0x1p63, -0x1p63,
                           1e30,  INFINITY, -INFINITY,  NAN,    -0.5};
  const Shape shape{3, 37};
  for (const DType from : {DType::kF32, DType::kF64, DType::kF16}) {
    for (const DType to : {DType::kU8, DType::kI8, DType::kI32, DType::kI64,
                           DType::kU32, DType::kI16}) {
      CAPTURE(ShortName(from));
      CAPTURE(ShortName(to));
      MapCase c;
      const int x = c.In({from, shape}, Layout::RowMajor(shape),
                         [&](int64_t i) { return values[i % 20]; });
      c.Out({to, shape}, Layout::RowMajor(shape));
      c.Set(Cast(c.At(x), to));
      CHECK(c.CheckAll(0) == "");
    }
  }
}

TEST_CASE("random numbers are the interpreter's") {
  const TensorType state{DType::kI64, {2}};
  for (const bool normal : {false, true}) {
    MapCase c;
    c.In(state, Layout::RowMajor(state.shape),
         [](int64_t i) { return static_cast<double>(41 + i); });
    const TensorType type{DType::kF32, {2, 11, 3, 5}};
    c.Out(type, Layout::Blocked(type.shape, 1, 8));
    Expr at = 0;
    for (int axis = 0; axis < 4; ++axis) {
      at = at * Expr(type.shape[axis]) + Var(axis);
    }
    const PhiloxBlock block =
        BlockOf({c.At(0, {0}), c.At(0, {1}), int64_t{1} << 50 | 77}, at);
    c.Set(normal ? NormalOf(block) : UnitInterval(block.first));
    CHECK(c.CheckAll(normal ? 2e-6 : 0) == "");
  }
}

}  // namespace mxc::test
