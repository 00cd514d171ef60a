// SPDX-License-Identifier: Apache-2.0
// one_hot: a vector of length depth for each index, on_value at the index and
// off_value elsewhere; off_value everywhere for an index out of range.
//   indices [I…] → [I…, depth]
#include "ir/ops/tensor/indexing/one_hot.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/elementwise/arithmetic.h"

namespace mxc {
namespace {

void OneHotTypes(const OneHotAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, attrs.dtype);
  if (!t.In(0).known_rank()) return;
  Extents dims = t.In(0).dims();
  dims.push_back(attrs.depth);
  t.SetOut(0, Shape(dims));
}

void OneHotMeaning(const OneHotAttrs& attrs, Definition& def) {
  std::vector<Expr> index = def.Indices();
  const Expr position = index.back();
  index.pop_back();
  const Expr on = Cast(def.In(0, index), DType::kI64) == position;
  def.Set(0, Select(on, Number(attrs.on_value, attrs.dtype),
                    Number(attrs.off_value, attrs.dtype)));
}

}  // namespace

MXC_OP(OneHot) {
  return Op<OneHotAttrs>("one_hot")
      .Alias({"_npx_one_hot"})
      .Doc("a unit vector for each index")
      .Inputs({{"indices", InputKind::kData}})
      .Types(OneHotTypes)
      .Meaning(OneHotMeaning)
      .ZeroGradient();
}

}  // namespace mxc
