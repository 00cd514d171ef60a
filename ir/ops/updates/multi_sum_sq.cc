// SPDX-License-Identifier: Apache-2.0
// multi_sum_sq: the sum of the squares of each array.
//   array_k  f[…], all of one type
//   output   f32[num_arrays]
// Source: MXNet 1.9.1 operator/contrib/multi_sum_sq-inl.h.
#include "ir/ops/updates/multi_sum_sq.h"

#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

void MultiSumSqTypes(const MultiSumSqAttrs& a, TypeInference& t) {
  for (const bool again : {false, true}) {
    for (int i = 0; i < t.inputs(); ++i) {
      t.SetInDType(again ? i : 0, t.InDType(again ? 0 : i));
    }
  }
  t.SetOutDType(0, DType::kF32);
  t.SetOut(0, Shape{a.num_arrays});
}

void MultiSumSqMeaning(const MultiSumSqAttrs&, Definition& def) {
  for (int i = 0; i < def.inputs(); ++i) {
    const Extents& dims = def.InShape(i).dims();
    const std::vector<Expr> extents(dims.begin(), dims.end());
    def.SetBox(0, {i}, {1},
               Definition::Sum(extents, [&](const std::vector<Expr>& r) {
                 const Expr x = Cast(def.In(i, r), DType::kF32);
                 return x * x;
               }));
  }
}

}  // namespace

MXC_OP(MultiSumSq) {
  return Op<MultiSumSqAttrs>("multi_sum_sq")
      .Doc("the sum of the squares of each array")
      .InputsOf([](const MultiSumSqAttrs& a) {
        return NumberedInputs("array_", a.num_arrays);
      })
      .Types(MultiSumSqTypes)
      .FloatsOnly()
      .Meaning(MultiSumSqMeaning);
}

}  // namespace mxc
