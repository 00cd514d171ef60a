// SPDX-License-Identifier: Apache-2.0
// _linalg_syrk: alpha · A · Aᵀ, or alpha · Aᵀ · A with transpose.
// C1  A has at least two axes
#include "ir/ops/tensor/linalg/gemm.h"
#include "ir/ops/tensor/linalg/products.h"
#include "ir/ops/tensor/shape/swap_axis.h"

namespace mxc {
namespace {

struct SyrkAttrs {
  bool transpose = false;
  double alpha = 1;

  void Describe(Fields& f) {
    f("transpose", transpose).Doc("the first factor is transposed");
    f("alpha", alpha).Doc("factor of the product");
  }
};

void SyrkTypes(const SyrkAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const int rank = t.In(0).rank();
  if (!t.Require(rank >= 2, "C1: A has rank {}, expected at least 2", rank)) {
    return;
  }
  Shape out = t.In(0);
  out[rank - 2] = out[rank - 1] =
      t.In(0)[attrs.transpose ? rank - 1 : rank - 2];
  t.SetOut(0, out);
}

std::vector<Value> SyrkAsDot(const SyrkAttrs& attrs, const Node& node,
                             GraphBuilder& b) {
  const Value a = node.inputs[0];
  const Value product =
      ProductOf(b, a, a, attrs.transpose, !attrs.transpose, "product");
  return {Scaled(b, product, attrs.alpha, "alpha")};
}

// alpha · (H + Hᵀ) · A, or alpha · A · (H + Hᵀ) with transpose.
std::vector<Value> SyrkGradient(const SyrkAttrs& attrs, GradientBuilder& g) {
  const Value transposed =
      g.Op<op::SwapAxis>({g.Head()}, {.dim1 = -2, .dim2 = -1});
  const Value both = Scaled(g, g.Op<op::ElemwiseAdd>({g.Head(), transposed}),
                            attrs.alpha, "alpha");
  return {attrs.transpose ? ProductOf(g, g.In(0), both)
                          : ProductOf(g, both, g.In(0))};
}

}  // namespace

MXC_OP(LinalgSyrk) {
  return Op<SyrkAttrs>("_linalg_syrk")
      .Alias({"linalg_syrk"})
      .Doc("the product of a matrix and its own transpose")
      .Inputs({{"A", InputKind::kData}})
      .Types(SyrkTypes)
      .FloatsOnly()
      .Decompose(SyrkAsDot)
      .Gradient(SyrkGradient);
}

}  // namespace mxc
