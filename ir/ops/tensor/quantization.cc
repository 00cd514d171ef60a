// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/quantization.h"

namespace mxc {

namespace {

Expr Limited(const Expr& x, double low, double high) {
  return Select(x < Lit(high, x), Max(x, Lit(low, x)), Lit(high, x));
}

Expr HalvesToEven(const Expr& x) {
  const Expr floor = Unary(UnaryOp::kFloor, x), rest = x - floor;
  const Expr half = Lit(0.5, x), two = Lit(2, x);
  const Expr odd = floor - two * Unary(UnaryOp::kFloor, floor * half);
  const Expr up = rest > half || (rest == half && odd == Lit(1, x));
  return floor + Select(up, Lit(1, x), Lit(0, x));
}

}  // namespace

Expr GreaterMagnitude(const Expr& low, const Expr& high) {
  return Max(Abs(low), Abs(high));
}

Expr QuantizeInt8(const Expr& x, const Expr& low, const Expr& high,
                  const Levels& levels) {
  const Expr scale = Lit(levels.int8, x) / GreaterMagnitude(low, high);
  return HalvesToEven(Limited(x * scale, -128, 127));
}

Expr QuantizeUint8(const Expr& x, const Expr& low, const Expr& high,
                   const Levels& levels) {
  const Expr scale = Lit(levels.uint8, x) / (high - low);
  const Expr level = (x - low) * scale;
  const Expr known = Select(Unary(UnaryOp::kIsNan, level), Lit(0, x), level);
  return HalvesToEven(Limited(known, 0, 255));
}

}  // namespace mxc
