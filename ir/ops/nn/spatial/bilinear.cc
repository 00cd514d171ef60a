// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/nn/spatial/bilinear.h"

namespace mxc {
namespace {

// A coordinate between cell `low` and the next.
struct Between {
  Expr low;     // i64
  Expr weight;  // of the next cell
};

Between Split(const Expr& coordinate) {
  const Expr floor = Unary(UnaryOp::kFloor, coordinate);
  return {Cast(floor, DType::kI64), coordinate - floor};
}

Expr Blend(const Between& y, const Between& x,
           const std::function<Expr(int dy, int dx)>& corner) {
  const auto row = [&](int dy) {
    const Expr left = corner(dy, 0), right = corner(dy, 1);
    return left * (Lit(1, x.weight) - x.weight) + right * x.weight;
  };
  return row(0) * (Lit(1, y.weight) - y.weight) + row(1) * y.weight;
}

Expr Clamp(Expr index, int64_t extent) {
  return Max(Min(index, extent - 1), 0);
}

}  // namespace

Expr BilinearWithZeros(Expr y, Expr x, int64_t height, int64_t width,
                       const CellOf& cell) {
  const Between at_y = Split(y), at_x = Split(x);
  return Blend(at_y, at_x, [&](int dy, int dx) {
    const Expr row = at_y.low + dy, column = at_x.low + dx;
    const Expr inside =
        row >= 0 && row < height && column >= 0 && column < width;
    const Expr value = cell(row, column);
    return Select(inside, value, Lit(0, value));
  });
}

Expr BilinearWithBorder(Expr y, Expr x, int64_t height, int64_t width,
                        const CellOf& cell) {
  const Between at_y = Split(y), at_x = Split(x);
  return Blend(at_y, at_x, [&](int dy, int dx) {
    return cell(Clamp(at_y.low + dy, height), Clamp(at_x.low + dx, width));
  });
}

Expr BilinearWithin(Expr y, Expr x, const CellOf& cell) {
  const auto next = [](const Expr& coordinate) {
    return Cast(Unary(UnaryOp::kCeil, coordinate), DType::kI64);
  };
  const Between at_y = Split(y), at_x = Split(x);
  return Blend(at_y, at_x, [&](int dy, int dx) {
    return cell(dy ? next(y) : at_y.low, dx ? next(x) : at_x.low);
  });
}

}  // namespace mxc
