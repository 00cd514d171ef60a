// SPDX-License-Identifier: Apache-2.0
// _npi_pinv_scalar_rcond: the pseudo-inverse of Moore and Penrose, by singular
// values: those of at most rcond times the greatest count as 0.
//   A  f[…, m, n], the shorter of both at most 512     output  f[…, n, m]
// C1  A holds matrices
// No gradient, as in MXNet 1.9.1.
#include <algorithm>

#include "ir/ops/tensor/linalg/factorization.h"
#include "ir/ops/tensor/reduction/reduction.h"
#include "ir/ops/tensor/shape/expand_dims.h"

namespace mxc {
namespace {

struct NpiPinvAttrs {
  double rcond = 1e-15;
  bool hermitian = false;

  void Describe(Fields& f) {
    f("rcond", rcond).Doc("what is small, as a share of the greatest");
    f("hermitian", hermitian).Doc("A is symmetric; the same values").Hint();
  }
};

void PinvTypes(const NpiPinvAttrs&, TypeInference& t) {
  t.AllSameDType();
  Shape out = t.In(0);
  if (!out.known()) return;
  const int rank = out.rank();
  if (!t.Require(rank >= 2 &&
                     std::min(out[rank - 2], out[rank - 1]) <= kMostTurnedRows,
                 "C1: A has shape {}, expected matrices, of at most {} rows or "
                 "columns",
                 ToString(out), kMostTurnedRows)) {
    return;
  }
  std::swap(out[rank - 2], out[rank - 1]);
  t.SetOut(0, out);
}

std::vector<Value> PinvParts(const NpiPinvAttrs& attrs, const Node& node,
                             GraphBuilder& b) {
  const Value a = node.inputs[0];
  const int rank = a.shape().rank();
  const bool tall = a.shape()[rank - 2] > a.shape()[rank - 1];
  const auto parts = b.Ops<op::NpiSvd>({tall ? Transposed(b, a) : a});
  const Value values = parts[1];
  const Value greatest =
      b.Op<op::Max>({values}, {.axis = Extents{-1}, .keepdims = true});
  const Value counts = b.Greater(values, b.Mul(greatest, attrs.rcond));
  const Value inverse =
      b.Where(counts, b.Div(1, values), b.Zeros(values.type()));
  const Value scaled =
      b.Mul(parts[2], b.Op<op::ExpandDims>({inverse}, {.axis = -1}));
  return {tall ? MatrixProduct(b, parts[0], scaled)
               : MatrixProduct(b, scaled, parts[0], true, true)};
}

}  // namespace

MXC_OP(NpiPinvScalarRcond) {
  return Op<NpiPinvAttrs>("_npi_pinv_scalar_rcond")
      .Doc("numpy.linalg.pinv")
      .Inputs({{"A", InputKind::kData}})
      .Types(PinvTypes)
      .FloatsOnly()
      .ZeroGradient()
      .Decompose(PinvParts);
}

}  // namespace mxc
