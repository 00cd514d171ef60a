// SPDX-License-Identifier: Apache-2.0
// argsort: the indices that would sort an axis.
// C1, C2: see sorting.h
#include "ir/ops/tensor/sort/argsort.h"
#include "ir/ops/tensor/indexing/positions.h"
#include "ir/ops/tensor/sort/sorting.h"

namespace mxc {

MXC_OP(Argsort) {
  return Op<ArgsortAttrs>("argsort")
      .Alias({"_npi_argsort"})
      .Doc("the indices that sort an axis")
      .Types([](const ArgsortAttrs& attrs, TypeInference& t) {
        t.SetOutDType(0, attrs.dtype);
        const auto axis = RequireSortedAxis(attrs.request(), t);
        if (!axis) return;
        t.SetOut(0, axis->sorted);
        RequirePositions(t, axis->source[axis->axis], attrs.dtype);
      })
      .Decompose([](const ArgsortAttrs& attrs, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        const SortParts parts = SortInput(attrs.request(), node, b);
        return {SortedIndices(parts, attrs.dtype, b)};
      })
      .ZeroGradient();
}

}  // namespace mxc
