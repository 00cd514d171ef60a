// SPDX-License-Identifier: Apache-2.0
// _csr: a matrix of which each row names the elements that are not zero. Front
// ends make it of inputs.
//   indices  i32[N, K]   columns, each once in a row; none where there is no such
//   values   t[N, K]
//   output   t[N, columns]
// Nothing passes back to it: csr matrices are inputs. Products with it, and with
// what functions of an element make of it, take the elements (sparse-inputs).
// C1  indices and values have one shape of two axes
#include "ir/ops/tensor/sparse/csr.h"

#include "ir/ops/op.h"

namespace mxc {
namespace {

void CsrTypes(const CsrAttrs& a, TypeInference& t) {
  t.SetInDType(0, DType::kI32);
  t.SetOutDType(0, t.InDType(1));
  t.SetInDType(1, t.OutDType(0));
  if (t.In(0).known_rank() &&
      !t.Require(t.In(0).rank() == 2, "C1: indices has {} axes, expected 2",
                 t.In(0).rank())) {
    return;
  }
  t.SetIn(0, t.In(1));
  t.SetIn(1, t.In(0));
  const bool known = t.In(0).known_rank();
  Extents output = {known ? t.In(0)[0] : Shape::kUnknownDim,
                    a.columns > 0 ? a.columns : Shape::kUnknownDim};
  t.SetOut(0, Shape(output));
}

void CsrMeaning(const CsrAttrs&, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  def.Set(0, Definition::Sum({Expr(def.InShape(0)[1])},
                             [&](const std::vector<Expr>& k) {
                               const Expr index = def.In(0, {i[0], k[0]});
                               const Expr value = def.In(1, {i[0], k[0]});
                               return Select(Cast(index, DType::kI64) == i[1],
                                             value, Lit(0, value));
                             }));
}

}  // namespace

MXC_OP(Csr) {
  return Op<CsrAttrs>("_csr")
      .Internal()
      .Doc("a matrix of which each row names the elements that are not zero")
      .Inputs({{"indices"}, {"values"}})
      .Types(CsrTypes)
      .Meaning(CsrMeaning)
      .ZeroGradient();
}

}  // namespace mxc
