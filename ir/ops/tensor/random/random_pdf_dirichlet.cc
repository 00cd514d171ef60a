// SPDX-License-Identifier: Apache-2.0
// _random_pdf_dirichlet: Γ(Σ alpha) / Π Γ(alpha) · Π x^(alpha - 1), over the last
// axis.
//   sample  f[P…, S…, k]     alpha  f[P…, k]     output  f[P…, S…], or f[1]
// C1  alpha has the leading extents of sample, and its last one
#include <algorithm>

#include "ir/ops/tensor/random/density.h"

namespace mxc {
namespace {

void DirichletTypes(const DensityAttrs&, TypeInference& t) {
  t.AllSameDType();
  const Shape &sample = t.In(0), &alpha = t.In(1);
  if (!sample.known_rank() || sample.rank() < 1) return;
  const auto &s = sample.dims(), &a = alpha.dims();
  t.SetOut(0,
           s.size() == 1 ? Shape{1} : Shape(Extents(s.begin(), s.end() - 1)));
  if (!sample.known() || !alpha.known()) return;
  const bool fits = !a.empty() && a.size() <= s.size() &&
                    std::equal(a.begin(), a.end() - 1, s.begin()) &&
                    a.back() == s.back();
  t.Require(fits, "C1: alpha has shape {}, sample {}", ToString(alpha),
            ToString(sample));
}

std::vector<Value> DirichletParts(const DensityAttrs& attrs, const Node& node,
                                  GraphBuilder& b) {
  const Value x = node.inputs[0];
  Extents dims = node.inputs[1].shape().dims();
  dims.insert(dims.end() - 1, x.shape().dims().size() - dims.size(), 1);
  const Value alpha = b.Reshape(node.inputs[1], Shape(dims));
  const int last = x.shape().rank() - 1;
  const auto sum = [&](Value of) { return b.Sum(of, {last}); };
  const Value scale = b.Sub(LogGamma(b, sum(alpha)), sum(LogGamma(b, alpha)));
  const Value powers = sum(b.Mul(b.Sub(alpha, 1), b.Log(x)));
  const Value logarithm = b.Reshape(b.Add(powers, scale), node.types[0].shape);
  return {Density(attrs, b, logarithm)};
}

}  // namespace

MXC_OP(RandomPdfDirichlet) {
  return Op<DensityAttrs>("_random_pdf_dirichlet")
      .Alias({"random_pdf_dirichlet"})
      .Doc("the density of a distribution at samples")
      .Inputs({{"sample"}, {"alpha"}})
      .Types(DirichletTypes)
      .FloatsOnly()
      .Decompose(DirichletParts);
}

}  // namespace mxc
