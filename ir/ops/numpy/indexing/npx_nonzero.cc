// SPDX-License-Identifier: Apache-2.0
// _npx_nonzero: where an array is not 0; as many rows as it has such elements.
//   x       t[d1 … dr]   NaN is not 0
//   output  i64[n, r]    n its elements: the indices, in row-major order
//   count   i32[1]       how many rows there are; hidden
// C1  x has an axis
// C2  x has fewer than 2^31 elements
// Source: MXNet 1.9.1 operator/numpy/np_nonzero_op.cc.
#include "ir/ops/numpy/np_composition.h"
#include "ir/ops/tensor/elementwise/cast.h"
#include "ir/ops/tensor/indexing/unravel_index.h"

namespace mxc {
namespace {

void NpxNonzeroTypes(const NoAttrs&, TypeInference& t) {
  t.SetOutDType(0, DType::kI64);
  t.SetOutDType(1, DType::kI32);
  t.SetOut(1, {1});
  const Shape& x = t.In(0);
  if (!x.known_rank() || !t.Require(x.rank() > 0, "C1: x has no axis")) return;
  if (!x.known()) return;
  if (t.Require(x.elements() <= INT32_MAX,
                "C2: x has shape {}, expected fewer than 2^31 elements",
                ToString(x))) {
    t.SetOut(0, {x.elements(), x.rank()});
  }
}

std::vector<Value> NpxNonzeroParts(const NoAttrs&, const Node& node,
                                   GraphBuilder& b) {
  const Value x = node.inputs[0];
  const std::vector<Value> found = b.Ops<op::NonzeroPlaces>({x}, "places");
  const Value places = b.Op<op::Cast>({found[0]}, {.dtype = DType::kI64});
  const Value indices =
      b.Op<op::UnravelIndex>({places}, {.shape = x.shape().dims()});
  return {Transposed(b, indices, {1, 0}), found[1]};
}

}  // namespace

MXC_OP(NpxNonzero) {
  return Op<>("_npx_nonzero")
      .Alias({"_npi_nonzero"})
      .Doc("where an array is not 0; how often, data decide")
      .Inputs({{"x", InputKind::kData}})
      .Outputs({"output", "count"}, 1)
      .Types(NpxNonzeroTypes)
      .LengthByData({.count = 1, .axes = {0}, .by = {0}})
      .Decompose(NpxNonzeroParts)
      .ZeroGradient();
}

}  // namespace mxc
