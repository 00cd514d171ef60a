// SPDX-License-Identifier: Apache-2.0
// topk: the k greatest or least elements along an axis, in order.
//   indices  their positions          value  themselves
//   both     values and positions     mask   1 where data has one of them
// C1, C2: see sorting.h
#include <algorithm>

#include "ir/ops/tensor/positions.h"
#include "ir/ops/tensor/sorting.h"

namespace mxc {
namespace {

enum class TopkReturn : int { kValue, kIndices, kMask, kBoth };

struct TopkAttrs {
  std::optional<int64_t> axis = -1;
  int64_t k = 1;
  TopkReturn ret_typ = TopkReturn::kIndices;
  bool is_ascend = false;
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis that is sorted; None: the flattened data");
    f("k", k).Doc("how many elements; below 1: all");
    f("ret_typ", ret_typ)
        .OneOf({"value", "indices", "mask", "both"})
        .Doc("what is returned");
    f("is_ascend", is_ascend).Doc("the least elements, else the greatest");
    f("dtype", dtype).Doc("element type of the indices");
  }

  SortRequest request() const {
    return {axis, is_ascend, std::max<int64_t>(k, 0)};
  }
  // Values come with indices, which are hidden unless both are asked for.
  bool has_values() const {
    return ret_typ == TopkReturn::kValue || ret_typ == TopkReturn::kBoth;
  }
};

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
  return b.Op("Reshape", {mask}, {{"shape", ToString(node.types[0].shape)}},
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
