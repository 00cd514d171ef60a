// SPDX-License-Identifier: Apache-2.0
// _embedding_gradient: the gradient of Embedding's table.
//   head      f[d1 …, D]   of Embedding's output
//   data      [d1 …]       row numbers, truncated and clipped to the table
//   gradient  f[input_dim, D]: each row the sum of the heads of its number
// A ScatterSum (ir/program/scatter_sum.h): linear in the heads and the table.
// C1  head has the axes of data and one more
#include "ir/ops/nn/sequence/embedding_gradient.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/sparse/row_forms.h"

namespace mxc {
namespace {

void EmbeddingGradientTypes(const EmbeddingGradientAttrs& a, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  const Shape &head = t.In(0), &data = t.In(1);
  if (!head.known_rank() || !data.known_rank()) return;
  if (!t.Require(head.rank() == data.rank() + 1,
                 "C1: head has {} axes and data {}", head.rank(),
                 data.rank())) {
    return;
  }
  t.SetOut(0, {a.input_dim, head[data.rank()]});
}

void EmbeddingGradientMeaning(const EmbeddingGradientAttrs& a,
                              Definition& def) {
  const std::vector<Expr> i = def.Indices();
  std::vector<Expr> extents;
  for (const int64_t extent : def.InShape(1).dims()) {
    extents.push_back(extent);
  }
  const auto term = [&](const std::vector<Expr>& r) {
    const Expr row = Cast(def.In(1, r), DType::kI64);
    std::vector<Expr> at = r;
    at.push_back(i[1]);
    return Select(Max(Min(row, a.input_dim - 1), 0) == i[0], def.In(0, at),
                  def.Lit(0));
  };
  def.Set(0, extents.empty() ? term({}) : Definition::Sum(extents, term));
}

RowForm EmbeddingGradientRows(const EmbeddingGradientAttrs& a, const Node& node,
                              std::span<const RowForm>, GraphBuilder& b) {
  if (!a.sparse) return {};
  const Value head = node.inputs[0];
  const Value numbers = RowNumbers(b, node.inputs[1], a.input_dim);
  const int64_t width = head.shape()[head.shape().rank() - 1];
  return {numbers, b.Reshape(head, {numbers.shape()[0], width})};
}

}  // namespace

MXC_OP(EmbeddingGradient) {
  return Op<EmbeddingGradientAttrs>("_embedding_gradient")
      .Internal()
      .Doc("the gradient of Embedding")
      .Inputs({{"head"}, {"data"}})
      .Outputs({"gradient"})
      .Types(EmbeddingGradientTypes)
      .Meaning(EmbeddingGradientMeaning)
      .AsRows(EmbeddingGradientRows);
}

}  // namespace mxc
