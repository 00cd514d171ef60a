// SPDX-License-Identifier: Apache-2.0
// _linalg_sumlogdiag: the sum of the logarithms of the diagonal.
//   A  t[…, n, n]     output  t[…], t[1] for one matrix
// C1  A holds square matrices
#include "ir/ops/op.h"

namespace mxc {
namespace {

void SumLogDiagTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const Shape& a = t.In(0);
  const int rank = a.rank();
  if (!t.Require(rank >= 2 && a[rank - 2] == a[rank - 1],
                 "C1: A has shape {}, expected square matrices", ToString(a))) {
    return;
  }
  Extents dims(a.dims().begin(), a.dims().end() - 2);
  if (dims.empty()) dims.push_back(1);
  t.SetOut(0, Shape(dims));
}

void SumLogDiagMeaning(const NoAttrs&, Definition& def) {
  const int rank = def.InShape(0).rank();
  def.Set(0, Definition::Sum({def.InShape(0)[rank - 1]}, [&](const auto& r) {
            std::vector<Expr> index = def.Indices();
            index.resize(rank - 2);
            index.insert(index.end(), {r[0], r[0]});
            return Log(def.In(0, index));
          }));
}

std::vector<Value> SumLogDiagGradient(const NoAttrs&, GradientBuilder& g) {
  const Value diagonal = g.Op<op::LinalgExtractdiag>({g.In(0)});
  Extents dims = diagonal.shape().dims();
  dims.back() = 1;
  return {
      g.Op<op::LinalgMakediag>({g.Div(g.Reshape(g.Head(), dims), diagonal)})};
}

}  // namespace

MXC_OP(LinalgSumlogdiag) {
  return Op<>("_linalg_sumlogdiag")
      .Alias({"linalg_sumlogdiag"})
      .Doc("the sum of the logarithms of the diagonal")
      .Inputs({{"A", InputKind::kData}})
      .Types(SumLogDiagTypes)
      .FloatsOnly()
      .Meaning(SumLogDiagMeaning)
      .Gradient(SumLogDiagGradient);
}

}  // namespace mxc
