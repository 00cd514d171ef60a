// SPDX-License-Identifier: Apache-2.0
// Layers of integers.
#include "frontend/onnx/operators/exact_products.h"
#include "frontend/onnx/operators/quantization.h"

namespace mxc::onnx {
namespace {

Extents AlongAxis(Call& c, int i, int rank, int from_last) {
  if (!c.Has(i)) return {};
  const Shape& shape = c.ShapeOf(i);
  if (shape.elements() == 1) return {};
  if (shape.rank() > 1) return shape.dims();
  if (rank < 2) return shape.dims();
  Extents dims(rank, 1);
  dims[rank - from_last] = shape[0];
  return dims;
}

// One for each filter, beside filters [M, C, …].
Extents AlongFilters(Call& c, int i, const Shape& filters) {
  c.Require(filters.rank() >= 3, "its weight has {} axes", filters.rank());
  Extents dims(filters.rank(), 1);
  if (c.Has(i) && c.ShapeOf(i).elements() > 1) dims[0] = filters[0];
  return dims;
}

}  // namespace

Extents AlongRows(Call& c, int i, int rank) { return AlongAxis(c, i, rank, 2); }
Extents AlongColumns(Call& c, int i, int rank) {
  return AlongAxis(c, i, rank, 1);
}

void ImportMatMulInteger(Call& c) {
  const WholeNumbers a = WholeNumbersOf(c, 0, 2, AlongRows(c, 2, c.RankOf(0)));
  const WholeNumbers b =
      WholeNumbersOf(c, 1, 3, AlongColumns(c, 3, c.RankOf(1)));
  c.Give(0, ExactMatMul(c, a, b));
}

void ImportConvInteger(Call& c) {
  const WholeNumbers x = WholeNumbersOf(c, 0, 2, {});
  const WholeNumbers w =
      WholeNumbersOf(c, 1, 3, AlongFilters(c, 3, c.ShapeOf(1)));
  c.Give(0, ExactConvolution(c, 1, x, w));
}

void ImportQLinearMatMul(Call& c) {
  const int rank_a = c.RankOf(0), rank_b = c.RankOf(3);
  const WholeNumbers a = WholeNumbersOf(c, 0, 2, AlongRows(c, 2, rank_a));
  const WholeNumbers b = WholeNumbersOf(c, 3, 5, AlongColumns(c, 5, rank_b));
  const Value sum = c.Cast(ExactMatMul(c, a, b), DType::kF32);
  Value scale = c.Mul(ScaleOf(c, 1, AlongRows(c, 1, rank_a)),
                      ScaleOf(c, 4, AlongColumns(c, 4, rank_b)));
  const Value out = ScaleOf(c, 6, AlongRows(c, 6, sum.shape().rank()));
  scale = c.Div(scale, out);
  const int32_t type = c.DataTypeOf(7);
  c.Give(0, Quantized(c, c.Mul(sum, scale), ZeroPoint(c, 7), type));
  c.SetDataType(0, type);
}

void ImportQLinearConv(Call& c) {
  const WholeNumbers x = WholeNumbersOf(c, 0, 2, {});
  const Shape& filters = c.ShapeOf(3);
  const WholeNumbers w = WholeNumbersOf(c, 3, 5, AlongFilters(c, 5, filters));
  Value sum = ExactConvolution(c, 3, x, w);
  Extents channels(sum.shape().rank(), 1);
  channels[1] = filters[0];
  if (c.Has(8)) {
    c.Require(c.ShapeOf(8) == Shape{filters[0]},
              "its bias has shape {}, expected one entry for each of {} "
              "filters",
              ToString(c.ShapeOf(8)), filters[0]);
    sum = c.Add(sum, c.Reshape(c.Cast(c.In(8), DType::kI32), channels));
  }
  const Value scale =
      c.Div(c.Mul(ScaleOf(c, 1), ScaleOf(c, 4, channels)), ScaleOf(c, 6));
  const int32_t type = c.DataTypeOf(7);
  c.Give(0, Quantized(c, c.Mul(c.Cast(sum, DType::kF32), scale),
                      ScalarZeroPoint(c, 7), type));
  c.SetDataType(0, type);
}

}  // namespace mxc::onnx
