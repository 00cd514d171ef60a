// SPDX-License-Identifier: Apache-2.0
// SwapAxis: two axes change places.
// C1  dim1 and dim2 are axes of data
#include "ir/ops/tensor/shape/swap_axis.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/permute.h"

namespace mxc {
namespace {

Extents SwappedOrder(const SwapAxisAttrs& attrs, int rank) {
  Extents order = AllAxes(rank);
  std::swap(order[*ResolveAxis(attrs.dim1, rank)],
            order[*ResolveAxis(attrs.dim2, rank)]);
  return order;
}

void SwapAxisTypes(const SwapAxisAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  const Shape& known = t.In(0).known_rank() ? t.In(0) : t.Out(0);
  if (!known.known_rank()) return;
  const int rank = known.rank();
  if (RequireAxis(t, "C1", "dim1", attrs.dim1, rank) &&
      RequireAxis(t, "C1", "dim2", attrs.dim2, rank)) {
    PermuteTypes(t, SwappedOrder(attrs, rank));
  }
}

}  // namespace

MXC_OP(SwapAxis) {
  return Op<SwapAxisAttrs>("SwapAxis")
      .Alias({"swapaxes", "_npi_swapaxes"})
      .Doc("two axes change places")
      .Types(SwapAxisTypes)
      .Meaning([](const SwapAxisAttrs& attrs, Definition& def) {
        PermuteMeaning(def, SwappedOrder(attrs, def.OutShape().rank()));
      })
      .Gradient([](const SwapAxisAttrs& attrs, GradientBuilder& g) {
        return PermuteGradient(g, SwappedOrder(attrs, g.Out().shape().rank()));
      });
}

}  // namespace mxc
