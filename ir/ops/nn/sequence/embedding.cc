// SPDX-License-Identifier: Apache-2.0
// Embedding: rows of a table.
//   data    [d1 …], any type: row numbers, truncated and clipped to the table
//   weight  f[input_dim, output_dim]
//   output  f[d1 …, output_dim]   of element type `dtype`
// The gradient of weight: _embedding_gradient; data has none.
// C1  weight has shape (input_dim, output_dim)
// Source: MXNet 1.9.1 operator/tensor/indexing_op.cc.
#include "ir/ops/nn/sequence/embedding.h"

#include "ir/ops/nn/sequence/embedding_gradient.h"
#include "ir/ops/op.h"

namespace mxc {

void EmbeddingTypes(int64_t input_dim, int64_t output_dim, DType dtype,
                    TypeInference& t) {
  if (t.InDType(1) != DType::kUnknown) {
    t.SetOutDType(0, t.InDType(1));
  } else {
    t.SetOutDType(0, dtype);
    t.SetInDType(1, t.OutDType(0));
  }
  const Shape weight = {input_dim, output_dim};
  if (t.In(1).known()) {
    t.Require(t.In(1) == weight, "C1: weight has shape {}, expected {}",
              ToString(t.In(1)), ToString(weight));
  }
  t.SetIn(1, weight);
  if (!t.In(0).known_rank()) return;
  Extents output = t.In(0).dims();
  output.push_back(output_dim);
  t.SetOut(0, output);
}

namespace {

void EmbeddingMeaning(const EmbeddingAttrs& a, Definition& def) {
  std::vector<Expr> i = def.Indices();
  const Expr column = i.back();
  i.pop_back();
  const Expr row = Cast(def.In(0, i), DType::kI64);
  def.Set(0, def.In(1, {Max(Min(row, a.input_dim - 1), 0), column}));
}

std::vector<Value> EmbeddingGradient(const EmbeddingAttrs& a,
                                     GradientBuilder& g) {
  std::vector<Value> gradients = g.None();
  if (g.Needs(1)) {
    gradients[1] = g.Op<op::EmbeddingGradient>(
        {g.Head(), g.In(0)},
        {.input_dim = a.input_dim, .sparse = a.sparse_grad}, "weight");
  }
  return gradients;
}

}  // namespace

MXC_OP(Embedding) {
  return Op<EmbeddingAttrs>("Embedding")
      .Doc("rows of a table, by their numbers")
      .Alias({"_npx_embedding"})
      .Inputs({{"data"}, {"weight", InputKind::kParameter}})
      .Types([](const EmbeddingAttrs& a, TypeInference& t) {
        EmbeddingTypes(a.input_dim, a.output_dim, a.dtype, t);
      })
      .Meaning(EmbeddingMeaning)
      .Gradient(EmbeddingGradient)
      .SparseRows(
          [](const EmbeddingAttrs& a) { return a.sparse_grad ? 0 : -1; });
}

}  // namespace mxc
