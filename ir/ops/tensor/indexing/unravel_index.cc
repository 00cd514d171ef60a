// SPDX-License-Identifier: Apache-2.0
// _unravel_index: row-major positions in a shape as columns of indices.
//   data [I…], shape of rank M → [M, I…]
// C1  the extents of shape are positive; the first one may be left open (-1)
#include "ir/ops/tensor/indexing/unravel_index.h"

#include "ir/ops/op.h"

namespace mxc {
namespace {

std::optional<std::string> CheckUnravel(const UnravelAttrs& attrs) {
  for (size_t m = 0; m < attrs.shape.size(); ++m) {
    const bool open = m == 0 && attrs.shape[m] == -1;
    if (attrs.shape[m] < 1 && !open) {
      return fmt::format("C1: shape {} has the extent {}",
                         ToString(attrs.shape), attrs.shape[m]);
    }
  }
  if (attrs.shape.empty()) return "C1: shape has no axis";
  return std::nullopt;
}

void UnravelTypes(const UnravelAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  Extents dims = t.In(0).dims();
  dims.insert(dims.begin(), static_cast<int64_t>(attrs.shape.size()));
  t.SetOut(0, Shape(dims));
}

void UnravelMeaning(const UnravelAttrs& attrs, Definition& def) {
  std::vector<Expr> at = def.Indices();
  at.erase(at.begin());
  const Expr position = Cast(def.In(0, at), DType::kI64);
  const std::vector<Expr> index =
      Definition::Unflatten(position, Shape(attrs.shape));
  Extents begin(def.OutShape().rank(), 0), extent = def.OutShape().dims();
  extent[0] = 1;
  for (const Expr& coordinate : index) {
    def.SetBox(0, begin, extent, coordinate);
    ++begin[0];
  }
}

}  // namespace

MXC_OP(UnravelIndex) {
  return Op<UnravelAttrs>("_unravel_index")
      .Alias({"unravel_index"})
      .Doc("row-major positions as indices")
      .Check(CheckUnravel)
      .Types(UnravelTypes)
      .Meaning(UnravelMeaning)
      .ZeroGradient();
}

}  // namespace mxc
