// SPDX-License-Identifier: Apache-2.0
// _contrib_quantized_embedding: rows of a table of 8-bit numbers.
//   data f[…], weight i8[input_dim, output_dim], min_weight, max_weight f32[1]
//   outputs  i8[…, output_dim], and the same range
// Source: MXNet 1.9.1 operator/quantization/quantized_indexing_op.cc.
#include "ir/ops/quantized/quantization.h"

namespace mxc {
namespace {

struct QuantizedEmbeddingAttrs {
  int64_t input_dim = 0, output_dim = 0;
  DType dtype = DType::kF32;
  bool sparse_grad = false;

  void Describe(Fields& f) {
    f("input_dim", input_dim).Required().Min(1).Doc("rows of the table");
    f("output_dim", output_dim).Required().Min(1).Doc("elements of a row");
    f("dtype", dtype).Hint().Doc("without effect");
    f("sparse_grad", sparse_grad).Hint().Doc("without effect");
  }
};

void QuantizedEmbeddingTypes(const QuantizedEmbeddingAttrs& a,
                             TypeInference& t) {
  SetRangeTypes(t, 2, 1);
  t.SetIn(1, {a.input_dim, a.output_dim});
  t.SetInDType(1, DType::kI8);
  t.SetOutDType(0, DType::kI8);
  if (!t.In(0).known_rank()) return;
  Extents dims = t.In(0).dims();
  dims.push_back(a.output_dim);
  t.SetOut(0, Shape(std::move(dims)));
}

}  // namespace

MXC_OP(QuantizedEmbedding) {
  return Op<QuantizedEmbeddingAttrs>("_contrib_quantized_embedding")
      .Doc("rows of a table of 8-bit numbers")
      .Inputs({{"data", InputKind::kData},
               {"weight", InputKind::kParameter},
               {"min_weight", InputKind::kData},
               {"max_weight", InputKind::kData}})
      .Outputs(kRangedOutputs)
      .Types(QuantizedEmbeddingTypes)
      .Decompose([](const QuantizedEmbeddingAttrs&, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        const Value rows = b.Op<op::Take>({node.inputs[1], node.inputs[0]});
        return {rows, node.inputs[2], node.inputs[3]};
      })
      .ZeroGradient();
}

}  // namespace mxc
