// SPDX-License-Identifier: Apache-2.0
// _npi_polyval: Σ p[i] · x^(n − 1 − i), by Horner's rule.
//   p  t[n], n ≤ 4096     x, output  t[…]
// C1  p is a vector of at most 4096 elements
#include "ir/ops/op.h"

namespace mxc {
namespace {

constexpr int64_t kMostCoefficients = 4096;  // one node, or two, for each

void NpiPolyvalTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  t.SetOut(0, t.In(1));
  t.SetIn(1, t.Out(0));
  if (!t.In(0).known()) return;
  t.Require(t.In(0).rank() == 1 && t.In(0)[0] <= kMostCoefficients,
            "C1: p has shape {}, expected a vector of at most {} elements",
            ToString(t.In(0)), kMostCoefficients);
}

std::vector<Value> NpiPolyvalParts(const NoAttrs&, const Node& node,
                                   GraphBuilder& b) {
  const Value p = node.inputs[0], x = node.inputs[1];
  const auto coefficient = [&](int64_t i) {
    return b.SliceAxis(p, 0, i, i + 1);
  };
  const Shape whole = x.shape().rank() == 0 ? Shape{1} : x.shape();
  const Value at = b.Reshape(x, whole);
  Value sum = b.BroadcastTo(coefficient(0), whole);
  for (int64_t i = 1; i < p.shape()[0]; ++i) {
    sum = b.Add(b.Mul(sum, at), coefficient(i));
  }
  return {b.Reshape(sum, x.shape())};
}

}  // namespace

MXC_OP(NpiPolyval) {
  return Op<>("_npi_polyval")
      .Doc("numpy.polyval")
      .Inputs({{"p", InputKind::kData}, {"x", InputKind::kData}})
      .Types(NpiPolyvalTypes)
      .Decompose(NpiPolyvalParts);
}

}  // namespace mxc
