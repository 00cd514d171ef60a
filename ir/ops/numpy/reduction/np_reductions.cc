// SPDX-License-Identifier: Apache-2.0
// NumPy's reductions: a row for each. The mean, which divides, is npi_mean.cc.
#include "ir/ops/numpy/reduction/np_reduction.h"
#include "ir/ops/tensor/elementwise/arithmetic.h"

namespace mxc {
namespace {

Op<NpReductionAttrs> NpReductionOperator(std::string name, std::string doc,
                                         ReduceOp reduce,
                                         Expr (*term)(const Expr& x)) {
  Op<NpReductionAttrs> op(std::move(name));
  op.Doc(std::move(doc));
  op.Inputs({{"a", InputKind::kData}});
  op.Check(CheckNpReduction);
  op.Meaning([reduce, term](const NpReductionAttrs& attrs, Definition& def) {
    def.Set(0, ReduceInput(attrs.reduction(), def, reduce, term));
  });
  return op;
}

// Sums and products, in a type that holds more than truth values.
Op<NpReductionAttrs> NpTotal(std::string name, std::string doc,
                             ReduceOp reduce) {
  return NpReductionOperator(std::move(name), std::move(doc), reduce, Counted)
      .Types(NpSumTypes);
}

Op<NpReductionAttrs> NpExtremum(std::string name, std::string doc,
                                ReduceOp reduce) {
  return NpReductionOperator(std::move(name), std::move(doc), reduce,
                             [](const Expr& x) { return x; })
      .Types(NpReductionTypes)
      .Gradient([](const NpReductionAttrs& attrs, GradientBuilder& g) {
        return ExtremumGradient(attrs.reduction(), g);
      });
}

// All are true where the least truth value is, any is where the greatest is.
Op<NpTruthAttrs> NpTruth(std::string name, std::string doc, ReduceOp reduce) {
  Op<NpTruthAttrs> op(std::move(name));
  op.Doc(std::move(doc));
  op.Types(NpTruthTypes);
  op.Meaning([reduce](const NpTruthAttrs& attrs, Definition& def) {
    const Expr found =
        ReduceInput(attrs.reduction(), def, reduce,
                    [](const Expr& x) { return Cast(IsTrue(x), DType::kI32); });
    def.Set(0, IsTrue(found));
  });
  op.ZeroGradient();
  return op;
}

}  // namespace

MXC_OP(NpSum) {
  return NpTotal("_np_sum", "numpy.sum", ReduceOp::kSum)
      .Gradient([](const NpReductionAttrs& attrs, GradientBuilder& g) {
        return SumGradient(attrs.reduction(), g);
      });
}

MXC_OP(NpProd) {
  return NpTotal("_np_prod", "numpy.prod", ReduceOp::kProduct)
      .Alias({"_np_product"})
      .Gradient([](const NpReductionAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {ProdGradient(attrs.reduction(), g, g.In(0))};
      });
}

MXC_OP(NpMax) {
  return NpExtremum("_np_max", "numpy.max", ReduceOp::kMax).Alias({"_np_amax"});
}

MXC_OP(NpMin) {
  return NpExtremum("_np_min", "numpy.min", ReduceOp::kMin).Alias({"_np_amin"});
}

MXC_OP(NpAll) {
  return NpTruth("_np_all", "whether no element is 0", ReduceOp::kMin);
}

MXC_OP(NpAny) {
  return NpTruth("_np_any", "whether any element is not 0", ReduceOp::kMax)
      .Alias({"_np_sometrue"});
}

}  // namespace mxc
