// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/np_reduction.h"

namespace mxc {
namespace {

void NpiMeanMeaning(const NpReductionAttrs& attrs, Definition& def) {
  const ReductionAttrs over = attrs.reduction();
  const Expr sum =
      ReduceInput(over, def, ReduceOp::kSum, [](Expr x) { return x; });
  const double count = static_cast<double>(ReducedCount(over, def.InShape(0)));
  def.Set(0, sum / Lit(count, sum));
}

}  // namespace

MXC_OP(NpiMean) {
  return Op<NpReductionAttrs>("_npi_mean")
      .Doc("numpy.mean")
      .Inputs({{"a", InputKind::kData}})
      .Check(CheckNpReduction)
      .Types(NpReductionTypes)
      .Meaning(NpiMeanMeaning)
      .Gradient([](const NpReductionAttrs& attrs, GradientBuilder& g) {
        return MeanGradient(attrs.reduction(), g);
      });
}

}  // namespace mxc
