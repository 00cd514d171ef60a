// SPDX-License-Identifier: Apache-2.0
// _gather_positions: where gather_nd reads; our own operator, for its gradient.
//   indices [M, I…], shape (d0 … dM-1) → i64[∏I]
//   output = the row-major position of (indices[0, i…], …) in shape; indices
//   out of range wrap
// C1  indices has a row for each entry of shape
#include "ir/ops/tensor/indexing/gather_positions.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/indexing/gathering.h"

namespace mxc {
namespace {

void GatherPositionsTypes(const GatherPositionsAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, DType::kI64);
  if (!t.In(0).known()) return;
  const Shape& indices = t.In(0);
  const auto rows = static_cast<int64_t>(attrs.shape.size());
  if (t.Require(indices.rank() >= 1 && indices[0] == rows &&
                    CheckedProduct(attrs.shape).has_value(),
                "C1: indices {} into shape {}", ToString(indices),
                ToString(attrs.shape))) {
    t.SetOut(0, Shape{indices.elements() / rows});
  }
}

void GatherPositionsMeaning(const GatherPositionsAttrs& attrs,
                            Definition& def) {
  const Shape& indices = def.InShape(0);
  std::vector<Expr> at = Definition::Unflatten(
      Var(0), Shape(Extents(indices.dims().begin() + 1, indices.dims().end())));
  at.insert(at.begin(), 0);
  std::vector<Expr> named;
  for (size_t m = 0; m < attrs.shape.size(); ++m) {
    at[0] = static_cast<int64_t>(m);
    named.push_back(
        LegalIndex(def.In(0, at), attrs.shape[m], IndexMode::kWrap));
  }
  def.Set(0, Definition::Flatten(named, Shape(attrs.shape)));
}

}  // namespace

MXC_OP(GatherPositions) {
  return Op<GatherPositionsAttrs>("_gather_positions")
      .Internal()
      .Doc("the positions that indices name")
      .Inputs({{"indices", InputKind::kData}})
      .Types(GatherPositionsTypes)
      .Meaning(GatherPositionsMeaning)
      .ZeroGradient();
}

}  // namespace mxc
