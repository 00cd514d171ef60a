// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/reduction/np_reduction.h"

namespace mxc {
namespace {

// The mean of whole numbers is f32.
void NpiMeanTypes(const NpReductionAttrs& attrs, TypeInference& t) {
  const DType given = t.InDType(0);
  NpReductionAttrs promoted = attrs;
  if (given != DType::kUnknown && !IsFloat(given) && !attrs.dtype) {
    promoted.dtype = DType::kF32;
  }
  NpReductionTypes(promoted, t);
}

void NpiMeanMeaning(const NpReductionAttrs& attrs, Definition& def) {
  const ReductionAttrs over = attrs.reduction();
  const Expr sum = ReduceInput(over, def, ReduceOp::kSum, [](Expr x) {
    return IsFloat(x->dtype) ? x : Cast(x, DType::kF64);
  });
  const double count = static_cast<double>(ReducedCount(over, def.InShape(0)));
  def.Set(0, sum / Lit(count, sum));
}

}  // namespace

MXC_OP(NpiMean) {
  return Op<NpReductionAttrs>("_npi_mean")
      .Doc("numpy.mean")
      .Inputs({{"a", InputKind::kData}})
      .Check(CheckNpReduction)
      .Types(NpiMeanTypes)
      .Meaning(NpiMeanMeaning)
      .Counted([](const NpReductionAttrs& attrs, const Node& node,
                  std::span<const int> axes, Value count, GraphBuilder& b) {
        return MeanOfCounted(attrs.reduction(), node, axes, count, b);
      })
      .Gradient([](const NpReductionAttrs& attrs, GradientBuilder& g) {
        return MeanGradient(attrs.reduction(), g);
      });
}

}  // namespace mxc
