// SPDX-License-Identifier: Apache-2.0
// scatter_nd: a tensor of zeros with parts that columns of indices name.
//   data [I…, R…], indices [M, I…], shape of rank M + |R| → shape
//   output[indices[0, i…], …, indices[M - 1, i…], r…] = data[i…, r…]
// Where a place is named twice, the last one in row-major order wins; MXNet's
// gradient gives the head to all. Indices out of range name no place.
// C1  shape has the rank that data and indices ask for, and the extents R
#include "ir/ops/tensor/indexing/scatter_nd.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

void ScatterNdTypes(const ScatterNdAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  t.SetOut(0, Shape(attrs.shape));
  const Shape &data = t.In(0), &indices = t.In(1);
  if (!data.known() || !indices.known()) return;
  t.Require(PartsFit(data, indices, attrs.shape),
            "C1: data {} at indices {} do not fill shape {}", ToString(data),
            ToString(indices), ToString(attrs.shape));
}

void ScatterNdMeaning(const ScatterNdAttrs&, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Shape& indices = def.InShape(1);
  const int named = static_cast<int>(indices[0]);
  const Shape columns(
      Extents(indices.dims().begin() + 1, indices.dims().end()));
  const std::vector<Expr> extents(columns.dims().begin(), columns.dims().end());
  const Expr none = -1;
  const auto source = [&](const std::vector<Expr>& column) {
    Expr here = Constant(1, DType::kBool);
    for (int m = 0; m < named; ++m) {
      std::vector<Expr> at = column;
      at.insert(at.begin(), m);
      here = here && Cast(def.In(1, at), DType::kI64) == i[m];
    }
    return Select(here, Definition::Flatten(column, columns), none);
  };
  const Expr found =
      extents.empty() ? source({}) : Definition::MaxOf(extents, source);
  std::vector<Expr> from = Definition::Unflatten(found, columns);
  from.insert(from.end(), i.begin() + named, i.end());
  def.Set(0, Select(found >= 0, def.In(0, from), def.Lit(0)));
}

}  // namespace

MXC_OP(ScatterNd) {
  return Op<ScatterNdAttrs>("scatter_nd")
      .Doc("zeros with parts that indices name")
      .Inputs({{"data", InputKind::kData}, {"indices", InputKind::kData}})
      .Types(ScatterNdTypes)
      .Meaning(ScatterNdMeaning)
      .Gradient(
          [](const ScatterNdAttrs&, GradientBuilder& g) -> std::vector<Value> {
            return {g.Op<op::ScatterNdBackward>({g.Head(), g.In(1)}), {}};
          });
}

}  // namespace mxc
