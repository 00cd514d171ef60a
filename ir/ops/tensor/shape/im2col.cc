// SPDX-License-Identifier: Apache-2.0
// im2col: the windows of a convolution as columns.
//   data    t[N, C, d1 … dk]        k = 1, 2, 3
//   output  t[N, C · ∏kernel, ∏o]
//           o = ⌊(d + 2·pad − dilate·(kernel − 1) − 1) / stride⌋ + 1
// C1  data has an axis for each entry of kernel, after two others
// C2  stride, dilate and pad are empty or as long as kernel
// C3  kernel ≤ d + 2·pad along every axis, dilated
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/col2im.h"
#include "ir/ops/tensor/shape/columns.h"

namespace mxc {
namespace {

void Im2colTypes(const ColumnsAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const Shape& data = t.In(0);
  if (!t.Require(data.rank() == attrs.rank() + 2,
                 "C1: data has rank {}, expected {}", data.rank(),
                 attrs.rank() + 2)) {
    return;
  }
  int64_t rows = data[1], columns = 1;
  for (int k = 0; k < attrs.rank(); ++k) {
    const int64_t windows = attrs.Windows(k, data[k + 2]);
    if (!t.Require(windows > 0, "C3: kernel {} exceeds the padded data {}",
                   ToString(attrs.kernel), ToString(data))) {
      return;
    }
    const auto more_rows = RequireProduct(t, rows, attrs.kernel[k]);
    const auto more_columns = RequireProduct(t, columns, windows);
    if (!more_rows || !more_columns) return;
    rows = *more_rows;
    columns = *more_columns;
  }
  t.SetOut(0, Shape{data[0], rows, columns});
}

void Im2colMeaning(const ColumnsAttrs& attrs, Definition& def) {
  const Shape& data = def.InShape(0);
  Extents windows, patch = {data[1]};
  for (int k = 0; k < attrs.rank(); ++k) {
    windows.push_back(attrs.Windows(k, data[k + 2]));
    patch.push_back(attrs.kernel[k]);
  }
  const std::vector<Expr> row = Definition::Unflatten(Var(1), Shape(patch));
  const std::vector<Expr> window =
      Definition::Unflatten(Var(2), Shape(windows));
  std::vector<Expr> index = {Var(0), row[0]};
  Expr inside = Constant(1, DType::kBool);
  for (int k = 0; k < attrs.rank(); ++k) {
    const Expr i = window[k] * attrs.Stride(k) + row[k + 1] * attrs.Dilate(k) -
                   attrs.Pad(k);
    if (attrs.Pad(k) > 0) inside = inside && i >= 0 && i < data[k + 2];
    index.push_back(i);
  }
  def.Set(0, Select(inside, def.In(0, index), def.Lit(0)));
}

std::vector<Value> Im2colGradient(const ColumnsAttrs& attrs,
                                  GradientBuilder& g) {
  const Extents& data = g.In(0).shape().dims();
  return {g.Op<op::Col2im>({g.Head()},
                           {attrs, Extents(data.begin() + 2, data.end())})};
}

}  // namespace

MXC_OP(Im2col) {
  return Op<ColumnsAttrs>("im2col")
      .Doc("the windows of a convolution as columns")
      .Check(CheckColumns)
      .Types(Im2colTypes)
      .Meaning(Im2colMeaning)
      .Gradient(Im2colGradient);
}

}  // namespace mxc
