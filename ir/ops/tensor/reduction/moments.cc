// SPDX-License-Identifier: Apache-2.0
// moments: the mean and the variance over axes.
// C1  axes are in range and distinct (reduction.h)
// C2  data are floats
#include "ir/ops/tensor/reduction/moments.h"
#include "ir/ops/tensor/reduction/reduction.h"

namespace mxc {
namespace {

void MomentsTypes(const MomentsAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  t.Require(t.InDType(0) == DType::kUnknown || IsFloat(t.InDType(0)),
            "C2: data has type {}, expected a float", ShortName(t.InDType(0)));
  ReductionShape(attrs.reduction(), t, 0);
  ReductionShape(attrs.reduction(), t, 1);
}

void MomentsMeaning(const MomentsAttrs& attrs, Definition& def) {
  const ReductionAttrs over = attrs.reduction();
  const double count = static_cast<double>(ReducedCount(over, def.InShape(0)));
  const Expr sum =
      ReduceInput(over, def, ReduceOp::kSum, [](Expr x) { return x; });
  const Expr mean = sum / Lit(count, sum);
  const Expr squares = ReduceInput(over, def, ReduceOp::kSum, [&](Expr x) {
    return (x - mean) * (x - mean);
  });
  def.Set(0, mean);
  def.Set(1, squares / Lit(count, squares));
}

std::vector<Value> MomentsGradient(const MomentsAttrs& attrs,
                                   GradientBuilder& g) {
  const ReductionAttrs over = attrs.reduction();
  const Shape& in = g.In(0).shape();
  const double count = static_cast<double>(ReducedCount(over, in));
  Value sum;
  if (g.HasHead(0)) {
    sum = g.BroadcastTo(g.Div(KeepReduced(over, g, g.Head(0)), count), in);
  }
  if (!g.HasHead(1)) return {sum};
  const Value centred = g.Sub(g.In(0), KeepReduced(over, g, g.Out(0)));
  const Value spread =
      g.Mul(centred, g.Mul(KeepReduced(over, g, g.Head(1)), 2 / count));
  return {sum ? g.Op<op::ElemwiseAdd>({sum, spread}) : spread};
}

}  // namespace

MXC_OP(Moments) {
  return Op<MomentsAttrs>("moments")
      .Doc("the mean and the variance over axes")
      .Outputs({"output0", "output1"})
      .Types(MomentsTypes)
      .Meaning(MomentsMeaning)
      .Gradient(MomentsGradient);
}

}  // namespace mxc
