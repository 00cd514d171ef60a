// SPDX-License-Identifier: Apache-2.0
// _grid_sample: an image, or a volume, read at the points of a grid; our own
// operator, GridSample of ONNX.
//   data    t[N, C, d1 … dk]      k = 1, 2, 3
//   grid    f[N, o1 … ok, k]      coordinates of the last axis first; −1 and 1
//           are the centres of the first and the last cell with align_corners,
//           their outer sides without
//   output  t[N, C, o1 … ok]
// Points between cells are interpolated, by lines or by cubic curves (α = −¾), or
// read the nearest cell, the even one of two. A cell outside is 0, the one at the
// border, or the one that a mirror at the border shows: in the middle of the
// outermost cell with align_corners, on its outer side without.
// C1  data and grid fit
// C2  cubic: k ≤ 2
#include "ir/ops/nn/spatial/grid_sample.h"

#include <cmath>

#include "ir/ops/nn/meaning_gradient.h"

namespace mxc {
namespace {

void GridSampleTypes(const GridSampleAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  const Shape &data = t.In(0), &grid = t.In(1);
  if (!data.known() || !grid.known()) return;
  const int count = data.rank() - 2;
  const bool fits = count >= 1 && count <= 3 && grid.rank() == data.rank() &&
                    grid[0] == data[0] && grid[count + 1] == count;
  if (!t.Require(fits, "C1: grid {} does not fit data {}", ToString(grid),
                 ToString(data)) ||
      !t.Require(attrs.mode != GridMode::kCubic || count <= 2,
                 "C2: cubic curves through {} axes", count)) {
    return;
  }
  Shape out = data;
  for (int d = 0; d < count; ++d) out[d + 2] = grid[d + 1];
  t.SetOut(0, out);
}

// A cell that a point reads along an axis, and how much of it.
struct GridTap {
  Expr cell;    // i64; may lie outside
  Expr weight;  // empty: all of it
};

Expr GridCoordinate(const GridSampleAttrs& attrs, const Expr& x,
                    int64_t extent) {
  const auto cells = static_cast<double>(extent);
  if (attrs.align_corners) return (x + Lit(1, x)) * Lit((cells - 1) / 2, x);
  return ((x + Lit(1, x)) * Lit(cells, x) - Lit(1, x)) * Lit(0.5, x);
}

std::vector<GridTap> GridTaps(GridMode mode, const Expr& x) {
  if (mode == GridMode::kNearest) {
    return {{Cast(Unary(UnaryOp::kRoundEven, x), DType::kI64), {}}};
  }
  const Expr floor = Unary(UnaryOp::kFloor, x);
  const Expr low = Cast(floor, DType::kI64), t = x - floor;
  const auto lit = [&](double value) { return Lit(value, t); };
  if (mode == GridMode::kLinear) return {{low, lit(1) - t}, {low + 1, t}};
  constexpr double a = -0.75;
  const auto near = [&](const Expr& s) {  // |s| ≤ 1
    return ((lit(a + 2) * s - lit(a + 3)) * s) * s + lit(1);
  };
  const auto far = [&](const Expr& s) {  // 1 ≤ |s| ≤ 2
    return ((lit(a) * s - lit(5 * a)) * s + lit(8 * a)) * s - lit(4 * a);
  };
  return {{low - 1, far(t + lit(1))},
          {low, near(t)},
          {low + 1, near(lit(1) - t)},
          {low + 2, far(lit(2) - t)}};
}

// Where a mirror at both ends shows the cell.
Expr MirroredCell(const Expr& cell, int64_t extent, bool align_corners) {
  if (align_corners && extent == 1) return 0;
  const int64_t period = 2 * (align_corners ? extent - 1 : extent);
  const Expr place = cell % Expr(period);
  const int64_t last = align_corners ? period : period - 1;
  return Select(place < extent, place, Expr(last) - place);
}

class GridReader {
 public:
  GridReader(const GridSampleAttrs& attrs, Definition& def)
      : attrs_(attrs),
        def_(def),
        count_(def.InShape(0).rank() - 2),
        i_(def.Indices()),
        wide_(AccumulateType(def.InDType(0))) {
    const DType coordinates = AccumulateType(def.InDType(1));
    for (int d = 0; d < count_; ++d) {
      std::vector<Expr> at = {i_[0]};
      at.insert(at.end(), i_.begin() + 2, i_.end());
      at.push_back(count_ - 1 - d);
      const Expr x = GridCoordinate(attrs, Cast(def.In(1, at), coordinates),
                                    def.InShape(0)[d + 2]);
      taps_.push_back(GridTaps(attrs.mode, x));
    }
  }

  Expr Read() { return Blended({}, Constant(1, DType::kBool)); }

 private:
  // Blends the cells whose first axes are chosen.
  Expr Blended(std::vector<Expr> cells, const Expr& inside) {
    const auto d = static_cast<int>(cells.size());
    if (d == count_) return Cell(std::move(cells), inside);
    const int64_t extent = def_.InShape(0)[d + 2];
    Expr sum;
    for (const GridTap& tap : taps_[d]) {
      std::vector<Expr> next = cells;
      Expr within = inside;
      if (attrs_.padding == GridPadding::kReflection) {
        next.push_back(MirroredCell(tap.cell, extent, attrs_.align_corners));
      } else if (attrs_.padding == GridPadding::kBorder) {
        next.push_back(Max(Min(tap.cell, extent - 1), 0));
      } else {
        next.push_back(tap.cell);
        within = inside && tap.cell >= 0 && tap.cell < extent;
      }
      Expr value = Blended(std::move(next), within);
      if (tap.weight) value = value * Cast(tap.weight, wide_);
      sum = sum ? sum + value : value;
    }
    return sum;
  }

  Expr Cell(std::vector<Expr> cells, const Expr& inside) {
    cells.insert(cells.begin(), {i_[0], i_[1]});
    const Expr value = Cast(def_.In(0, std::move(cells)), wide_);
    return Select(inside, value, Constant(0, wide_));
  }

  const GridSampleAttrs& attrs_;
  Definition& def_;
  const int count_;  // of axes
  const std::vector<Expr> i_;
  const DType wide_;
  std::vector<std::vector<GridTap>> taps_;
};

}  // namespace

MXC_OP(GridSample) {
  return Op<GridSampleAttrs>("_grid_sample")
      .Doc("an image, or a volume, read at the points of a grid")
      .Inputs({{"data"}, {"grid"}})
      .Types(GridSampleTypes)
      .Meaning([](const GridSampleAttrs& attrs, Definition& def) {
        def.Set(0, GridReader(attrs, def).Read());
      })
      .Gradient(
          [](const auto&, GradientBuilder& g) { return MeaningGradients(g); });
}

}  // namespace mxc
