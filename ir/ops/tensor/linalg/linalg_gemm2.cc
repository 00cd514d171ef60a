// SPDX-License-Identifier: Apache-2.0
// _linalg_gemm2: alpha · op(A) · op(B).
// C1 … C4: see gemm.h
#include "ir/ops/tensor/linalg/gemm.h"

namespace mxc {

MXC_OP(LinalgGemm2) {
  return Op<GemmAttrs>("_linalg_gemm2")
      .Alias({"linalg_gemm2"})
      .Doc("a scaled product of matrices")
      .Inputs({{"A", InputKind::kData}, {"B", InputKind::kData}})
      .Types([](const GemmAttrs& attrs, TypeInference& t) {
        t.AllSameDType();
        GemmTypes(attrs, t);
      })
      .FloatsOnly()
      .Decompose([](const GemmAttrs& attrs, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        return {GemmProduct(attrs, node, b)};
      })
      .Gradient(GemmGradients);
}

}  // namespace mxc
