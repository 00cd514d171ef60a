// SPDX-License-Identifier: Apache-2.0
// _np_cumsum: sums of the elements up to each position along an axis, or of the
// flattened input.
// C1  axis is in range, counted from the front
#include "ir/ops/numpy/reduction/np_cumsum.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/reverse.h"

namespace mxc {
namespace {

void CumsumTypes(const CumsumAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, attrs.dtype.value_or(t.InDType(0)));
  if (attrs.axis) {
    t.AllSameShape();
    if (!t.In(0).known_rank()) return;
    t.Require(0 <= *attrs.axis && *attrs.axis < t.In(0).rank(),
              "C1: axis {} is out of range for a shape of rank {}", *attrs.axis,
              t.In(0).rank());
  } else if (t.In(0).known()) {
    const auto count = CheckedProduct(t.In(0).dims());
    if (t.Require(count.has_value(), "a is too large")) {
      t.SetOut(0, Shape{*count});
    }
  }
}

void CumsumMeaning(const CumsumAttrs& attrs, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const size_t axis = static_cast<size_t>(attrs.axis.value_or(0));
  const Expr sum = Definition::Sum({i[axis] + 1}, [&](const auto& r) {
    std::vector<Expr> index = i;
    index[axis] = r[0];
    if (!attrs.axis) index = Definition::Unflatten(r[0], def.InShape(0));
    return Cast(def.In(0, index), def.OutDType());
  });
  def.Set(0, sum);
}

// The sums from each position on: those up to it, of the reversed head.
std::vector<Value> CumsumGradient(const CumsumAttrs& attrs,
                                  GradientBuilder& g) {
  const int64_t axis = attrs.axis.value_or(0);
  const Value head = g.Cast(g.Head(), g.In(0).type().dtype);
  const ReverseAttrs along = {.axis = {axis}};
  const Value sums =
      g.Op<op::NpCumsum>({g.Op<op::Reverse>({head}, along)}, {.axis = axis});
  return {g.Reshape(g.Op<op::Reverse>({sums}, along), g.In(0).shape())};
}

}  // namespace

MXC_OP(NpCumsum) {
  return Op<CumsumAttrs>("_np_cumsum")
      .Alias({"cumsum"})
      .Doc("sums up to each position")
      .Inputs({{"a", InputKind::kData}})
      .Types(CumsumTypes)
      .Meaning(CumsumMeaning)
      .Gradient(CumsumGradient);
}

}  // namespace mxc
