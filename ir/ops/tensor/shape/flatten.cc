// SPDX-License-Identifier: Apache-2.0
// Flatten: all axes but the first become one.
//   data    f[N, d1 …]
//   output  f[N, ∏ d]
// C1  data has at least one axis
// Source: MXNet 1.9.1 operator/tensor/matrix_op.cc.
#include "ir/ops/op.h"
#include "ir/ops/tensor/shape/view.h"

namespace mxc {
namespace {

void FlattenTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  if (!t.Require(data.rank() >= 1, "C1: data has no axes")) return;
  const Shape rest(Extents(data.dims().begin() + 1, data.dims().end()));
  t.SetOut(0, {data[0],
               rest.known()
                   ? CheckedProduct(rest.dims()).value_or(Shape::kUnknownDim)
                   : Shape::kUnknownDim});
  if (t.error() || data.known(0)) return;
  Shape back = data;
  back[0] = t.Out(0)[0];
  t.SetIn(0, back);
}

void FlattenMeaning(const NoAttrs&, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Expr position = Definition::Flatten(i, def.OutShape());
  def.Set(0, def.In(0, Definition::Unflatten(position, def.InShape(0))));
}

}  // namespace

MXC_OP(Flatten) {
  return Op<>("Flatten")
      .Doc("all axes but the first become one")
      .Alias({"flatten", "_npx_batch_flatten"})
      .Types(FlattenTypes)
      .Meaning(FlattenMeaning)
      .View()
      .Gradient(kViewGradient);
}

}  // namespace mxc
