// SPDX-License-Identifier: Apache-2.0
// _npi_tensorinv: the inverse of a as a matrix of its first `ind` axes by the
// others.
//   a  f[R…, C…]     output  f[C…, R…]
// C1  both sides have the same number of elements, at most kMostUnrolled
#include <algorithm>

#include "ir/ops/tensor/linalg/factorization.h"

namespace mxc {
namespace {

struct NpiTensorinvAttrs {
  int64_t ind = 2;

  void Describe(Fields& f) {
    f("ind", ind).Min(1).Doc("how many axes the rows have");
  }
};

// The extents of the rows.
Shape TensorinvRows(const NpiTensorinvAttrs& attrs, const Shape& a) {
  const auto ind = std::min<int64_t>(attrs.ind, a.rank());
  return Shape(Extents(a.dims().begin(), a.dims().begin() + ind));
}

void NpiTensorinvTypes(const NpiTensorinvAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  const Shape& a = t.In(0);
  if (!a.known()) return;
  const Shape rows = TensorinvRows(attrs, a);
  const int64_t n = rows.elements(), columns = a.elements() / n;
  if (!t.Require(n == columns && n <= kMostUnrolled,
                 "C1: {} x {} elements, expected a square of at most {} rows",
                 n, columns, kMostUnrolled)) {
    return;
  }
  Extents dims = a.dims();
  std::ranges::rotate(dims, dims.begin() + rows.rank());
  t.SetOut(0, Shape(dims));
}

std::vector<Value> NpiTensorinvParts(const NpiTensorinvAttrs& attrs,
                                     const Node& node, GraphBuilder& b) {
  const Value a = node.inputs[0];
  const int64_t rows = TensorinvRows(attrs, a.shape()).elements();
  const Value inverse =
      b.Op<op::LinalgInverse>({b.Reshape(a, Shape{rows, rows})});
  return {b.Reshape(inverse, node.types[0].shape)};
}

}  // namespace

MXC_OP(NpiTensorinv) {
  return Op<NpiTensorinvAttrs>("_npi_tensorinv")
      .Doc("numpy.linalg.tensorinv")
      .Inputs({{"a", InputKind::kData}})
      .Types(NpiTensorinvTypes)
      .FloatsOnly()
      .Decompose(NpiTensorinvParts);
}

}  // namespace mxc
