// SPDX-License-Identifier: Apache-2.0
// _embedding_gradient: the gradient of Embedding's table.
//   head      f[d1 …, D]   of Embedding's output
//   data      [d1 …]       row numbers, truncated and clipped to the table
//   gradient  f[input_dim, D]: each row the sum of the heads of its number
// Small tables: a product of matrices, one of them 0 or 1. Large ones: every
// element asks all numbers.
// C1  head has the axes of data and one more
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct EmbeddingGradientAttrs {
  int64_t input_dim = 0;

  void Describe(Fields& f) {
    f("input_dim", input_dim).Required().Min(1).Doc("rows of the table");
  }
};

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

// Of the matrix that says which number names which row.
constexpr int64_t kMostElements = 1 << 24;

std::vector<Value> EmbeddingGradientByProduct(const EmbeddingGradientAttrs& a,
                                              const Node& node,
                                              GraphBuilder& b) {
  const Value head = node.inputs[0], data = node.inputs[1];
  const int64_t numbers = data.shape().elements();
  if (a.input_dim > kMostElements / numbers) return {};
  const Value row =
      b.Op("clip", {b.Reshape(data, {numbers})},
           {{"a_min", "0"}, {"a_max", std::to_string(a.input_dim - 1)}}, "row");
  const Value names =
      b.Op("one_hot", {row},
           {{"depth", std::to_string(a.input_dim)},
            {"dtype", std::string(MxnetName(head.type().dtype))}},
           "names");
  const Value heads = b.Reshape(head, {numbers, node.types[0].shape[1]});
  return {b.Op("dot", {names, heads}, {{"transpose_a", "True"}}, "product")};
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
      .Decompose(EmbeddingGradientByProduct);
}

}  // namespace mxc
