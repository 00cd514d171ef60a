// SPDX-License-Identifier: Apache-2.0
// batch_dot: matrix products, one for each index of the leading axes.
//   lhs     t[B…, M, K], or t[B…, K, M] with transpose_a
//   rhs     t[B…, K, N], or t[B…, N, K] with transpose_b
//   output  t[B…, M, N]
// C1, C2, C3: see MatrixProductTypes
#include "ir/ops/tensor/linalg/batch_dot.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/linalg/products.h"
#include "ir/ops/tensor/shape/reshape.h"
#include "ir/program/steps/contraction.h"

namespace mxc {
namespace {

void BatchDotMeaning(const BatchDotAttrs& attrs, Definition& def) {
  const int rank = def.OutShape().rank();
  const int64_t k_extent =
      def.InShape(0)[attrs.transpose_a ? rank - 2 : rank - 1];
  const Expr row = Var(rank - 2), column = Var(rank - 1);
  def.Set(0, SumOfProducts(k_extent, [&](const Expr& k) {
            std::vector<Expr> lhs = def.Indices(), rhs = lhs;
            lhs[rank - 2] = attrs.transpose_a ? k : row;
            lhs[rank - 1] = attrs.transpose_a ? row : k;
            rhs[rank - 2] = attrs.transpose_b ? column : k;
            rhs[rank - 1] = attrs.transpose_b ? k : column;
            return std::pair(def.In(0, lhs), def.In(1, rhs));
          }));
}

// One batch axis made of several.
std::vector<Value> BatchDotOfThree(const BatchDotAttrs& attrs, const Node& node,
                                   GraphBuilder& b) {
  const int rank = node.types[0].shape.rank();
  if (rank == 3) return {};
  const auto merged = [&](Value v, const char* role) {
    return b.Op<op::Reshape>(
        {v}, {.shape = {-1, v.shape()[rank - 2], v.shape()[rank - 1]}}, role);
  };
  const Value product = b.Op<op::BatchDot>(
      {merged(node.inputs[0], "lhs"), merged(node.inputs[1], "rhs")},
      {.transpose_a = attrs.transpose_a, .transpose_b = attrs.transpose_b},
      "product");
  return {b.Op<op::Reshape>({product}, {.shape = node.types[0].shape.dims()},
                            "output")};
}

}  // namespace

MXC_OP(BatchDot) {
  return Op<BatchDotAttrs>("batch_dot")
      .Alias({"_npx_batch_dot"})
      .Doc("a matrix product for each index of the leading axes")
      .Inputs({{"lhs", InputKind::kData}, {"rhs", InputKind::kData}})
      .Types([](const BatchDotAttrs& attrs, TypeInference& t) {
        t.AllSameDType();
        MatrixProductTypes(t, attrs.transpose_a, attrs.transpose_b, 3);
      })
      .Meaning(BatchDotMeaning)
      .Decompose(BatchDotOfThree)
      .AsContraction([](const BatchDotAttrs& attrs, const Definition& def) {
        return def.OutShape().rank() == 3
                   ? std::optional(MatrixContraction(def, attrs.transpose_a,
                                                     attrs.transpose_b))
                   : std::nullopt;
      })
      .Gradient([](const BatchDotAttrs& attrs, GradientBuilder& g) {
        return ProductGradients(g, g.In(0), g.In(1), g.Head(),
                                attrs.transpose_a, attrs.transpose_b);
      });
}

}  // namespace mxc
