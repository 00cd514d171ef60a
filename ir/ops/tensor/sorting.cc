// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/sorting.h"

#include "ir/ops/tensor/axes.h"
#include "ir/ops/tensor/gathering.h"

namespace mxc {

std::optional<SortedAxis> RequireSortedAxis(const SortRequest& request,
                                            TypeInference& t) {
  if (!t.In(0).known()) return std::nullopt;
  SortedAxis result;
  result.source = t.In(0);
  if (request.axis) {
    const auto axis =
        RequireAxis(t, "C1", "axis", *request.axis, t.In(0).rank());
    if (!axis) return std::nullopt;
    result.axis = *axis;
  } else {
    const auto count = CheckedProduct(t.In(0).dims());
    if (!t.Require(count.has_value(), "data are too large")) {
      return std::nullopt;
    }
    result.source = Shape{*count};
  }
  const int64_t extent = result.source[result.axis];
  if (!t.Require(request.count <= extent && extent < (int64_t{1} << 31),
                 "C2: the first {} of {} elements are asked for", request.count,
                 extent)) {
    return std::nullopt;
  }
  result.sorted = result.source;
  if (request.count > 0) result.sorted[result.axis] = request.count;
  return result;
}

SortParts SortInput(const SortRequest& request, const Node& node,
                    GraphBuilder& b) {
  SortParts parts;
  parts.data = node.inputs[0];
  if (request.axis) {
    parts.axis = *ResolveAxis(*request.axis, parts.data.shape().rank());
  } else {
    parts.data =
        b.Op("Reshape", {parts.data}, {{"shape", "(-1,)"}}, "flattened");
  }
  const int64_t extent = parts.data.shape()[parts.axis];
  const int64_t count = request.count > 0 ? request.count : extent;
  const AttrText axis = {"axis", std::to_string(parts.axis)};
  parts.rank =
      b.Op("_sort_rank", {parts.data},
           {axis, {"is_ascend", PrintBool(request.is_ascend)}}, "rank");
  parts.order = b.Op("_sort_order", {parts.rank},
                     {axis, {"k", std::to_string(count)}}, "order");
  return parts;
}

Value SortedValues(const SortParts& parts, GraphBuilder& b) {
  return b.Op("_take_along", {parts.data, parts.order},
              {{"axis", std::to_string(parts.axis)}}, "values");
}

Value SortGradient(const SortRequest& request, GradientBuilder& g, Value head) {
  const SortParts parts = SortInput(request, g.origin(), g);
  const Value sum = ScatterAdd(g, head, parts.order, parts.data.shape(),
                               parts.axis, IndexMode::kClip);
  return g.Reshape(sum, g.In(0).shape());
}

Value SortedIndices(const SortParts& parts, DType dtype, GraphBuilder& b) {
  if (dtype == parts.order.type().dtype) return parts.order;
  return b.Op("Cast", {parts.order}, {{"dtype", std::string(MxnetName(dtype))}},
              "indices");
}

}  // namespace mxc
