// SPDX-License-Identifier: Apache-2.0
// topk: the k greatest or least elements along an axis, in order.
//   indices  their positions          value  themselves
//   both     values and positions     mask   1 where data has one of them
// C1, C2: see sorting.h

#include "ir/ops/tensor/sort/topk.h"
#include "ir/ops/tensor/indexing/positions.h"
#include "ir/ops/tensor/shape/reshape.h"
#include "ir/ops/tensor/sort/sorting.h"

namespace mxc {
namespace {

std::vector<std::string> TopkOutputs(const TopkAttrs& attrs) {
  if (attrs.has_values()) return {"output0", "output1"};
  return {"output"};
}

void TopkTypes(const TopkAttrs& attrs, TypeInference& t) {
  const bool indices = attrs.ret_typ == TopkReturn::kIndices;
  t.SetOutDType(0, indices ? attrs.dtype : t.InDType(0));
  if (attrs.has_values()) t.SetOutDType(1, attrs.dtype);
  const auto axis = RequireSortedAxis(attrs.request(), t);
  if (!axis) return;
  const bool mask = attrs.ret_typ == TopkReturn::kMask;
  t.SetOut(0, mask ? t.In(0) : axis->sorted);
  if (attrs.has_values()) t.SetOut(1, axis->sorted);
  if (indices || attrs.ret_typ == TopkReturn::kBoth) {
    RequirePositions(t, axis->source[axis->axis], attrs.dtype);
  }
}

Value TopkMask(const TopkAttrs& attrs, const Node& node, const SortParts& parts,
               GraphBuilder& b) {
  const Value mask = SortMask(parts, node.types[0].dtype, b);
  if (attrs.axis) return mask;
  return b.Op<op::Reshape>({mask}, {.shape = node.types[0].shape.dims()},
                           "output");
}

std::vector<Value> TopkBySorting(const TopkAttrs& attrs, const Node& node,
                                 GraphBuilder& b) {
  const SortParts parts = SortInput(attrs.request(), node, b);
  if (attrs.ret_typ == TopkReturn::kMask) {
    return {TopkMask(attrs, node, parts, b)};
  }
  const Value indices = SortedIndices(parts, attrs.dtype, b);
  if (!attrs.has_values()) return {indices};
  return {SortedValues(parts, b), indices};
}

}  // namespace

MXC_OP(Topk) {
  return Op<TopkAttrs>("topk")
      .Alias({"_npx_topk"})
      .Doc("the greatest or least elements along an axis")
      .OutputsOf(TopkOutputs)
      .VisibleOutputsOf([](const TopkAttrs& attrs) {
        return attrs.ret_typ == TopkReturn::kBoth ? 2 : 1;
      })
      .Types(TopkTypes)
      .Decompose(TopkBySorting)
      .Gradient(
          [](const TopkAttrs& attrs, GradientBuilder& g) -> std::vector<Value> {
            if (!attrs.has_values() || !g.HasHead(0)) return g.None();
            return {SortGradient(attrs.request(), g, g.Head())};
          });
}

}  // namespace mxc
