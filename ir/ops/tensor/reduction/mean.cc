// SPDX-License-Identifier: Apache-2.0
// mean: the sum over axes divided by the number of elements; for integers
// rounded towards zero.
#include <algorithm>

#include "ir/ops/tensor/elementwise/arithmetic.h"
#include "ir/ops/tensor/indexing/cut.h"
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

CountedForm MeanOfCounted(const ReductionAttrs& attrs, const Node& node,
                          std::span<const int> axes, Value count,
                          GraphBuilder& b) {
  const int axis = axes[0];
  const TensorType& in = node.inputs[0].type();
  const TensorType& out = node.types[0];
  const bool averages =
      std::ranges::binary_search(ReducedAxes(attrs, in.shape.rank()), axis);
  if (!averages || !IsFloat(in.dtype) || in.dtype != out.dtype) return {};
  const Value entries =
      b.Op<op::Cut>({node.inputs[0], count}, {.axis = axis, .neutral = 0});
  const int64_t each = ReducedCount(attrs, in.shape) / in.shape[axis];
  const Value elements =
      b.Mul(b.Cast(count, in.dtype), static_cast<double>(each));
  const Value mean = b.Div(b.Op<op::Sum>({entries}, attrs), elements);
  return {{b.Reshape(mean, out.shape)}, {-1}};
}

MXC_OP(Mean) {
  return Op<ReductionAttrs>("mean")
      .Doc("the mean over axes")
      .Types([](const ReductionAttrs& attrs, TypeInference& t) {
        t.AllSameDType();
        ReductionShape(attrs, t);
      })
      .Meaning(MeanMeaning)
      .Counted(MeanOfCounted)
      .Gradient(MeanGradient);
}

}  // namespace mxc
