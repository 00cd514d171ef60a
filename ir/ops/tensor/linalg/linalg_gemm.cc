// SPDX-License-Identifier: Apache-2.0
// _linalg_gemm: alpha · op(A) · op(B) + beta · C.
// C1 … C4: see gemm.h
// C5  C has the shape of the product
#include "ir/ops/tensor/linalg/gemm.h"

namespace mxc {
namespace {

struct LinalgGemmAttrs : GemmAttrs {
  double beta = 1;

  void Describe(Fields& f) {
    GemmAttrs::Describe(f);
    f("beta", beta).Doc("factor of C");
  }
};

void LinalgGemmTypes(const LinalgGemmAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  GemmTypes(attrs, t);
  t.Require(!t.In(2).known() || !t.Out(0).known() || t.In(2) == t.Out(0),
            "C5: C has shape {}, the product {}", ToString(t.In(2)),
            ToString(t.Out(0)));
  t.SetIn(2, t.Out(0));
}

}  // namespace

MXC_OP(LinalgGemm) {
  return Op<LinalgGemmAttrs>("_linalg_gemm")
      .Alias({"linalg_gemm"})
      .Doc("a scaled product of matrices plus a scaled matrix")
      .Inputs({{"A", InputKind::kData},
               {"B", InputKind::kData},
               {"C", InputKind::kData}})
      .Types(LinalgGemmTypes)
      .FloatsOnly()
      .Decompose([](const LinalgGemmAttrs& attrs, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        const Value product = GemmProduct(attrs, node, b);
        const Value c = Scaled(b, node.inputs[2], attrs.beta, "beta");
        return {b.Op<op::ElemwiseAdd>({product, c}, "sum")};
      })
      .Gradient([](const LinalgGemmAttrs& attrs, GradientBuilder& g) {
        std::vector<Value> gradients = GemmGradients(attrs, g);
        gradients.push_back(Scaled(g, g.Head(), attrs.beta, "beta"));
        return gradients;
      });
}

}  // namespace mxc
