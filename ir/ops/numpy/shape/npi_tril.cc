// SPDX-License-Identifier: Apache-2.0
// _npi_tril: matrices whose elements above the k-th diagonal are 0; of a vector
// of n, n rows of it.
// C1  data have an axis
#include "ir/ops/numpy/shape/npi_tril.h"

#include "ir/ops/op.h"

namespace mxc {
namespace {

void TrilTypes(const TrilAttrs&, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank() ||
      !t.Require(t.In(0).rank() > 0, "C1: data have no axis")) {
    return;
  }
  const Shape& in = t.In(0);
  t.SetOut(0, in.rank() == 1 ? Shape{in[0], in[0]} : in);
}

void TrilMeaning(const TrilAttrs& a, Definition& def) {
  const std::vector<Expr> index = def.Indices();
  const size_t rank = index.size();
  const Expr kept = index[rank - 1] - index[rank - 2] <= Expr(a.k);
  def.Set(0, Select(kept, def.InBroadcast(0, index), def.Lit(0)));
}

}  // namespace

MXC_OP(NpiTril) {
  return Op<TrilAttrs>("_npi_tril")
      .Doc("numpy.tril")
      .Types(TrilTypes)
      .Meaning(TrilMeaning)
      .ElementwiseGradient();
}

}  // namespace mxc
