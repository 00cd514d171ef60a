// SPDX-License-Identifier: Apache-2.0
// _np_transpose: numpy.transpose; unlike transpose it takes negative axes.
// C1  axes name every axis once
#include <algorithm>

#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/permute.h"

namespace mxc {
namespace {

struct NpTransposeAttrs {
  Extents axes;

  void Describe(Fields& f) {
    f("axes", axes).Doc("the order of the axes; (): reversed");
  }
};

// Axes out of range stay as they are.
Extents NpTransposeOrder(const NpTransposeAttrs& attrs, int rank) {
  Extents order = AllAxes(rank);
  std::ranges::reverse(order);
  if (attrs.axes.empty()) return order;
  order = attrs.axes;
  for (int64_t& axis : order) axis = ResolveAxis(axis, rank).value_or(axis);
  return order;
}

void NpTransposeTypes(const NpTransposeAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known_rank()) return;
  const int rank = t.In(0).rank();
  const Extents order = NpTransposeOrder(attrs, rank);
  Extents sorted = order;
  std::ranges::sort(sorted);
  if (t.Require(sorted == AllAxes(rank),
                "C1: axes {} are not an order of the {} axes",
                ToString(attrs.axes), rank)) {
    PermuteTypes(t, order);
  }
}

}  // namespace

MXC_OP(NpTranspose) {
  return Op<NpTransposeAttrs>("_np_transpose")
      .Doc("numpy.transpose")
      .Inputs({{"a", InputKind::kData}})
      .Types(NpTransposeTypes)
      .Meaning([](const NpTransposeAttrs& attrs, Definition& def) {
        PermuteMeaning(def, NpTransposeOrder(attrs, def.OutShape().rank()));
      })
      .Gradient([](const NpTransposeAttrs& attrs, GradientBuilder& g) {
        return PermuteGradient(g,
                               NpTransposeOrder(attrs, g.Out().shape().rank()));
      });
}

}  // namespace mxc
