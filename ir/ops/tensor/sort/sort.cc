// SPDX-License-Identifier: Apache-2.0
// sort: the elements along an axis in sorted order.
// C1, C2: see sorting.h
#include "ir/ops/tensor/sort/sorting.h"

namespace mxc {
namespace {

struct SortAttrs {
  std::optional<int64_t> axis = -1;
  bool is_ascend = true;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis that is sorted; None: the flattened data");
    f("is_ascend", is_ascend).Doc("the least element first");
  }

  SortRequest request() const { return {axis, is_ascend, 0}; }
};

// The second output, the order, is hidden.
void SortTypes(const SortAttrs& attrs, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  t.SetOutDType(1, DType::kI32);
  const auto axis = RequireSortedAxis(attrs.request(), t);
  if (!axis) return;
  t.SetOut(0, axis->sorted);
  t.SetOut(1, axis->sorted);
}

}  // namespace

MXC_OP(Sort) {
  return Op<SortAttrs>("sort")
      .Alias({"_npi_sort"})
      .Doc("sorts along an axis")
      .Outputs({"output0", "output1"}, 1)
      .Types(SortTypes)
      .Decompose([](const SortAttrs& attrs, const Node& node,
                    GraphBuilder& b) -> std::vector<Value> {
        const SortParts parts = SortInput(attrs.request(), node, b);
        return {SortedValues(parts, b), parts.order};
      })
      .Gradient(
          [](const SortAttrs& attrs, GradientBuilder& g) -> std::vector<Value> {
            return {SortGradient(attrs.request(), g, g.Head())};
          });
}

}  // namespace mxc
