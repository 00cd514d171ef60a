// SPDX-License-Identifier: Apache-2.0
// _contrib_SparseEmbedding: Embedding whose gradient has the rows that data name.
//   data    [d1 …], any type
//   weight  f[input_dim, output_dim]
//   output  f[d1 …, output_dim]
// Source: MXNet 1.9.1 operator/tensor/indexing_op.cc.
#include "ir/ops/nn/sequence/embedding.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct SparseEmbeddingAttrs {
  int64_t input_dim = 0, output_dim = 0;
  DType dtype = DType::kF32;
  bool deterministic = false;

  void Describe(Fields& f) {
    f("input_dim", input_dim).Required().Min(1).Doc("rows of the table");
    f("output_dim", output_dim).Required().Min(1).Doc("length of a row");
    f("dtype", dtype).Doc("of the table");
    f("deterministic", deterministic)
        .Doc("sums are always in one order here")
        .Hint();
  }
};

}  // namespace

MXC_OP(SparseEmbedding) {
  return Op<SparseEmbeddingAttrs>("_contrib_SparseEmbedding")
      .Doc("rows of a table, by their numbers, with a gradient of these alone")
      .Inputs({{"data"}, {"weight", InputKind::kParameter}})
      .Types([](const SparseEmbeddingAttrs& a, TypeInference& t) {
        EmbeddingTypes(a.input_dim, a.output_dim, a.dtype, t);
      })
      .Decompose(
          [](const SparseEmbeddingAttrs& a, const Node& node, GraphBuilder& b) {
            return b.Ops<op::Embedding>({node.inputs[0], node.inputs[1]},
                                        {.input_dim = a.input_dim,
                                         .output_dim = a.output_dim,
                                         .dtype = a.dtype,
                                         .sparse_grad = true});
          })
      .SparseRows([](const SparseEmbeddingAttrs&) { return 0; });
}

}  // namespace mxc
