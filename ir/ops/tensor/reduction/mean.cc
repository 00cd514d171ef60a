// SPDX-License-Identifier: Apache-2.0
// mean: the sum over axes divided by the number of elements; for integers
// rounded towards zero.
#include "ir/ops/tensor/elementwise/arithmetic.h"
#include "ir/ops/tensor/reduction/reduction.h"

namespace mxc {
namespace {

void MeanMeaning(const ReductionAttrs& attrs, Definition& def) {
  const Expr sum =
      ReduceInput(attrs, def, ReduceOp::kSum, [](Expr x) { return x; });
  const double count = static_cast<double>(ReducedCount(attrs, def.InShape(0)));
  def.Set(0, arithmetic::Divide(sum, Constant(count, sum->dtype)));
}

}  // namespace

MXC_OP(Mean) {
  return Op<ReductionAttrs>("mean")
      .Doc("the mean over axes")
      .Types([](const ReductionAttrs& attrs, TypeInference& t) {
        t.AllSameDType();
        ReductionShape(attrs, t);
      })
      .Meaning(MeanMeaning)
      .Gradient(MeanGradient);
}

}  // namespace mxc
