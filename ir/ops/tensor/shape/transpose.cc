// SPDX-License-Identifier: Apache-2.0
// transpose: the axes in another order, reversed when none are given.
//   output  axis k is axis axes[k] of data
// C1  axes name every axis of data once, counted from the front
#include <algorithm>

#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/permute.h"
#include "ir/ops/tensor/shape/transpose.h"

namespace mxc {
namespace {

Extents TransposeOrder(const TransposeAttrs& attrs, int rank) {
  Extents order = attrs.axes.empty() ? AllAxes(rank) : attrs.axes;
  if (attrs.axes.empty()) std::ranges::reverse(order);
  return order;
}

void TransposeTypes(const TransposeAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  const Shape& known = t.In(0).known_rank() ? t.In(0) : t.Out(0);
  if (!known.known_rank()) return;
  const Extents order = TransposeOrder(attrs, known.rank());
  Extents sorted = order;
  std::ranges::sort(sorted);
  if (t.Require(sorted == AllAxes(known.rank()),
                "C1: axes {} are not an order of the {} axes", ToString(order),
                known.rank())) {
    PermuteTypes(t, order);
  }
}

}  // namespace

MXC_OP(Transpose) {
  return Op<TransposeAttrs>("transpose")
      .Doc("the axes in another order")
      .Types(TransposeTypes)
      .Meaning([](const TransposeAttrs& attrs, Definition& def) {
        PermuteMeaning(def, TransposeOrder(attrs, def.OutShape().rank()));
      })
      .Gradient([](const TransposeAttrs& attrs, GradientBuilder& g) {
        return PermuteGradient(g,
                               TransposeOrder(attrs, g.Out().shape().rank()));
      });
}

}  // namespace mxc
