// SPDX-License-Identifier: Apache-2.0
// Floats that become integers: those that are known to fit, and those that are
// not, against the interpreter.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ir/program/float_bounds.h"
#include "tests/codegen/map_case.h"

namespace mxc::test {
namespace {

const Expr kX = Load(0, DType::kF32, {Var(0)});

Expr Above(const Expr& x, double limit) {
  return Select(x > Lit(limit, x), x, Lit(limit, x));
}
Expr Below(const Expr& x, double limit) {
  return Select(x < Lit(limit, x), x, Lit(limit, x));
}
Expr Even(const Expr& x) { return Unary(UnaryOp::kRoundEven, x); }

TEST_CASE("what limits say of a float") {
  CHECK(FitsInteger(Min(Above(kX, 0), Lit(255, kX)), DType::kU8));
  CHECK(FitsInteger(Even(Min(Above(kX, 0), Lit(255.5, kX))), DType::kU16));
  CHECK(FitsInteger(Max(Below(kX, 127), Lit(-128, kX)), DType::kI8));
  CHECK(FitsInteger(Cast(Cast(kX, DType::kI8), DType::kF32), DType::kI8));
  const Expr level = Even(Max(Below(kX, 127), Lit(-128, kX)));
  CHECK(FitsInteger(level + Lit(128, kX), DType::kU8));
  // NaN passes, or a limit is too far away, or is no limit.
  CHECK(!FitsInteger(level + Lit(129, kX), DType::kU8));
  CHECK(!FitsInteger(Max(kX, Lit(0, kX)) + Lit(1, kX), DType::kI64));
  CHECK(!FitsInteger(Min(Max(kX, Lit(0, kX)), Lit(255, kX)), DType::kU8));
  CHECK(!FitsInteger(Min(Above(kX, 0), Lit(256, kX)), DType::kU8));
  CHECK(!FitsInteger(Even(Min(Above(kX, 0), Lit(255.5, kX))), DType::kU8));
  CHECK(!FitsInteger(Min(Above(kX, -1), Lit(255, kX)), DType::kU8));
  CHECK(!FitsInteger(Select(kX > Lit(0, kX), Lit(0, kX), kX), DType::kI32));
  CHECK(!FitsInteger(kX, DType::kI64));
}

TEST_CASE("an expression that is not looked at to its end") {
  Expr y = Above(kX, 0);
  for (int i = 0; i < 200; ++i) y = Min(y, Max(y, Lit(i, y)));
  CHECK(!FitsInteger(y, DType::kI8));
}

TEST_CASE("floats become integers of every type, with limits and without") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {
      0,     -0.0,  0.5,   1.5,    2.5,  -0.5,     -1.5,  126.5, 127.5,
      128,   254.5, 255.5, 256,    -128, -128.5,   1e10,  -1e10, nan,
      0.499, -3e9,  3e9,   -129.5, 300,  infinity, 70000, 1e20,  -infinity};
  const Shape shape{67};
  const TensorType type{DType::kF32, shape};
  for (const DType to : {DType::kU8, DType::kI8, DType::kI16, DType::kU16,
                         DType::kI32, DType::kU32, DType::kI64}) {
    CAPTURE(ShortName(to));
    MapCase c;
    const int x = c.In(type, Layout::RowMajor(shape), [&](int64_t i) {
      return values[static_cast<size_t>(i) % values.size()];
    });
    for (int k = 0; k < 5; ++k) c.Out({to, shape}, Layout::RowMajor(shape));
    c.Set(Cast(Even(Min(Above(c.At(x), 0), Constant(255))), to));
    c.Set(Cast(Even(Max(Below(c.At(x), 127), Constant(-128))), to));
    c.Set(Cast(Even(Min(Max(c.At(x), Constant(0)), Constant(255))), to));
    c.Set(Cast(Min(Above(c.At(x), -7.5), Constant(99.5)), to));
    c.Set(Cast(Even(c.At(x)), to));
    CHECK(c.CheckAll(0) == "");
  }
}

}  // namespace
}  // namespace mxc::test
