// SPDX-License-Identifier: Apache-2.0
// col2im: columns added up at the places of the windows that im2col makes them
// of.
//   data    t[N, C · ∏kernel, ∏o]   k = 1, 2, 3, o as in im2col
//   output  t[N, C, d1 … dk]        d: output_size
// C1  kernel has 1 to 3 entries
// C2  stride, dilate, pad and output_size are empty or as long as kernel
// C3  data have such columns
#include "ir/ops/tensor/shape/col2im.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/columns.h"

namespace mxc {
namespace {

std::optional<std::string> CheckCol2im(const Col2imAttrs& attrs) {
  if (auto error = CheckColumns(attrs)) return error;
  if (attrs.output_size.size() == attrs.kernel.size()) return std::nullopt;
  return fmt::format("C2: {} has another length than kernel {}",
                     ToString(attrs.output_size), ToString(attrs.kernel));
}

void Col2imTypes(const Col2imAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const Shape& data = t.In(0);
  const auto patch = CheckedProduct(attrs.kernel);
  const auto columns = CheckedProduct(attrs.WindowCounts().dims());
  const bool fits = patch && columns && data.rank() == 3 &&
                    data[1] % *patch == 0 && data[2] == *columns;
  if (!t.Require(fits, "C3: data {} are no columns of {} for kernel {}",
                 ToString(data), ToString(attrs.output_size),
                 ToString(attrs.kernel))) {
    return;
  }
  Extents dims = {data[0], data[1] / *patch};
  dims.insert(dims.end(), attrs.output_size.begin(), attrs.output_size.end());
  t.SetOut(0, Shape(dims));
}

void Col2imMeaning(const Col2imAttrs& attrs, Definition& def) {
  Extents patch = {def.OutShape()[1]};
  patch.insert(patch.end(), attrs.kernel.begin(), attrs.kernel.end());
  const std::vector<Expr> extents(attrs.kernel.begin(), attrs.kernel.end());
  const Shape windows = attrs.WindowCounts();
  def.Set(
      0, Definition::Sum(extents, [&](const std::vector<Expr>& r) {
        std::vector<Expr> row = {Var(1)}, window;
        Expr covered = Constant(1, DType::kBool);
        for (int k = 0; k < attrs.rank(); ++k) {
          const Expr from = Var(k + 2) + attrs.Pad(k) - r[k] * attrs.Dilate(k);
          window.push_back(from / attrs.Stride(k));
          covered = covered && from >= 0 && window[k] < windows[k];
          if (attrs.Stride(k) > 1) {
            covered = covered && from % attrs.Stride(k) == 0;
          }
          row.push_back(r[k]);
        }
        return Select(covered,
                      def.In(0, {Var(0), Definition::Flatten(row, Shape(patch)),
                                 Definition::Flatten(window, windows)}),
                      def.Lit(0));
      }));
}

}  // namespace

MXC_OP(Col2im) {
  return Op<Col2imAttrs>("col2im")
      .Doc("columns added up at the places of their windows")
      .Check(CheckCol2im)
      .Types(Col2imTypes)
      .Meaning(Col2imMeaning)
      .Gradient([](const Col2imAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {g.Op<op::Im2col>({g.Head()}, attrs)};
      });
}

}  // namespace mxc
