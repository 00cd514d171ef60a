// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/reduction/extremum.h"

#include "ir/ops/numpy/reduction/np_reduction.h"
#include "ir/ops/tensor/indexing/positions.h"

namespace mxc {
namespace {

ReductionAttrs ExtremumAxes(const ExtremumAttrs& attrs) {
  ReductionAttrs reduction;
  if (attrs.axis) reduction.axis = Extents{*attrs.axis};
  reduction.keepdims = attrs.keepdims;
  return reduction;
}

constexpr ExtremumAttrs kChannels = {.axis = 1};

}  // namespace

void ExtremumTypes(const ExtremumAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  ReductionShape(ExtremumAxes(attrs), t);
  if (t.error() || !t.In(0).known()) return;
  RequirePositions(t, ReducedCount(ExtremumAxes(attrs), t.In(0)), t.InDType(0));
}

void NpExtremumTypes(const ExtremumAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, DType::kI64);
  NpReductionShape(ExtremumAxes(attrs), t);
}

void ExtremumMeaning(const ExtremumAttrs& attrs, Definition& def, ReduceOp op) {
  const ReductionAttrs over = ExtremumAxes(attrs);
  const Shape& in = def.InShape(0);
  Extents searched;
  for (const int64_t axis : ReducedAxes(over, in.rank())) {
    searched.push_back(in[static_cast<int>(axis)]);
  }
  const Shape box(searched);
  const std::vector<Expr> extents(searched.begin(), searched.end());
  const auto element = [&](const std::vector<Expr>& r) {
    return def.In(0, ReducedIndex(over, in.rank(), r));
  };
  const Expr extremum = Definition::ReduceOver(
      op, std::vector<Expr>(extents.size(), 0), extents, element);
  const Expr first = Definition::MinOf(extents, [&](const auto& r) {
    const Expr x = element(r);
    Expr found = x == extremum;
    if (IsFloat(x->dtype)) found = found || Unary(UnaryOp::kIsNan, x);
    return Select(found, Definition::Flatten(r, box), box.elements() - 1);
  });
  def.Set(0, first);
}

Op<ExtremumAttrs> ExtremumOperator(std::string name, std::string doc,
                                   ReduceOp reduce,
                                   void (*types)(const ExtremumAttrs&,
                                                 TypeInference&)) {
  Op<ExtremumAttrs> op(std::move(name));
  op.Doc(std::move(doc));
  op.Types(types);
  op.Meaning([reduce](const ExtremumAttrs& attrs, Definition& def) {
    ExtremumMeaning(attrs, def, reduce);
  });
  op.ZeroGradient();
  return op;
}

MXC_OP(Argmax) {
  return ExtremumOperator("argmax",
                          "the position of the first greatest element",
                          ReduceOp::kMax, ExtremumTypes);
}

MXC_OP(Argmin) {
  return ExtremumOperator("argmin", "the position of the first least element",
                          ReduceOp::kMin, ExtremumTypes);
}

MXC_OP(ArgmaxChannel) {
  return Op<>("argmax_channel")
      .Doc("the position of the first greatest element of axis 1")
      .Types(
          [](const NoAttrs&, TypeInference& t) { ExtremumTypes(kChannels, t); })
      .Meaning([](const NoAttrs&, Definition& def) {
        ExtremumMeaning(kChannels, def, ReduceOp::kMax);
      })
      .ZeroGradient();
}

}  // namespace mxc
