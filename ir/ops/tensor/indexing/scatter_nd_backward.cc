// SPDX-License-Identifier: Apache-2.0
// _scatter_nd_backward: the parts of the head that scatter_nd has written; our
// own operator, for its gradient.
//   head [d0 … dM-1, R…], indices [M, I…] → [I…, R…]
//   output[i…, r…] = head[indices[0, i…], …, indices[M - 1, i…], r…], and 0
//   where an index is out of range
// C1  indices has a row for each of the first axes of head
#include "ir/ops/op.h"
#include "ir/ops/tensor/indexing/scatter_nd.h"

namespace mxc {
namespace {

void ScatterNdBackwardTypes(const NoAttrs&, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  const Shape &head = t.In(0), &indices = t.In(1);
  if (!head.known() || !indices.known()) return;
  if (!t.Require(indices.rank() >= 1 && indices[0] <= head.rank(),
                 "C1: indices of shape {} name axes of head {}",
                 ToString(indices), ToString(head))) {
    return;
  }
  Extents dims(indices.dims().begin() + 1, indices.dims().end());
  dims.insert(dims.end(), head.dims().begin() + indices[0], head.dims().end());
  t.SetOut(0, Shape(dims));
}

void ScatterNdBackwardMeaning(const NoAttrs&, Definition& def) {
  const Shape& head = def.InShape(0);
  const int named = static_cast<int>(def.InShape(1)[0]);
  const int columns = def.InShape(1).rank() - 1;
  const std::vector<Expr> i = def.Indices();
  Expr legal = Constant(1, DType::kBool);
  std::vector<Expr> from;
  for (int m = 0; m < named; ++m) {
    std::vector<Expr> at(i.begin(), i.begin() + columns);
    at.insert(at.begin(), m);
    const Expr index = Cast(def.In(1, at), DType::kI64);
    legal = legal && index >= 0 && index < Expr(head[m]);
    from.push_back(Max(Min(index, head[m] - 1), 0));
  }
  from.insert(from.end(), i.begin() + columns, i.end());
  def.Set(0, Select(legal, def.In(0, from), def.Lit(0)));
}

}  // namespace

MXC_OP(ScatterNdBackward) {
  return Op<>("_scatter_nd_backward")
      .Internal()
      .Doc("the parts that scatter_nd has written")
      .Inputs({{"head", InputKind::kData}, {"indices", InputKind::kData}})
      .Types(ScatterNdBackwardTypes)
      .Meaning(ScatterNdBackwardMeaning)
      .Gradient([](const NoAttrs&, GradientBuilder& g) -> std::vector<Value> {
        return {g.Op<op::ScatterNd>({g.Head(), g.In(1)},
                                    {.shape = g.In(0).shape().dims()}),
                {}};
      });
}

}  // namespace mxc
