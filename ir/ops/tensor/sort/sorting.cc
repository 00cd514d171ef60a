// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/sort/sorting.h"

#include "ir/ops/tensor/elementwise/cast.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/gathering.h"
#include "ir/ops/tensor/indexing/scatter_add.h"
#include "ir/ops/tensor/indexing/take_along.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/reshape.h"
#include "ir/ops/tensor/sort/order.h"
#include "ir/ops/tensor/sort/sort_order.h"
#include "ir/ops/tensor/sort/sort_rank.h"

namespace mxc {
namespace {

// Measured (tests/bench/sort_bench.cc). So many elements at most are kept while
// a row is read; in rows of so many, only where they are few of them.
constexpr int64_t kMostKept = 16;
constexpr int64_t kMostRanked = 64;
constexpr int64_t kFew = 8;  // one in so many

enum class OrderBy { kTop, kRadix, kRank };

OrderBy WayOf(int64_t extent, int64_t count) {
  if (extent > kMostRanked) {
    return count <= kMostKept ? OrderBy::kTop : OrderBy::kRadix;
  }
  const bool few = count == 1 || count * kFew <= extent;
  return few ? OrderBy::kTop : OrderBy::kRank;
}

void FindOrder(SortParts& parts, bool is_ascend, int64_t count,
               GraphBuilder& b) {
  const OrderAttrs order = {
      .axis = parts.axis, .is_ascend = is_ascend, .k = count};
  switch (WayOf(parts.data.shape()[parts.axis], count)) {
    case OrderBy::kTop:
      parts.order = b.Op<op::TopOrder>({parts.data}, order, "order");
      break;
    case OrderBy::kRadix:
      parts.order = b.Op<op::RadixOrder>({parts.data}, order, "order");
      break;
    case OrderBy::kRank:
      parts.rank = b.Op<op::SortRank>(
          {parts.data}, {.axis = parts.axis, .is_ascend = is_ascend}, "rank");
      parts.order = b.Op<op::SortOrder>(
          {parts.rank}, {.axis = parts.axis, .k = count}, "order");
      break;
  }
}

}  // namespace

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
    parts.data = b.Op<op::Reshape>({parts.data}, {.shape = {-1}}, "flattened");
  }
  const int64_t extent = parts.data.shape()[parts.axis];
  const int64_t count = request.count > 0 ? request.count : extent;
  FindOrder(parts, request.is_ascend, count, b);
  return parts;
}

Value SortedValues(const SortParts& parts, GraphBuilder& b) {
  return b.Op<op::TakeAlong>({parts.data, parts.order}, {.axis = parts.axis},
                             "values");
}

Value SortMask(const SortParts& parts, DType dtype, GraphBuilder& b) {
  const Shape& order = parts.order.shape();
  if (parts.rank) {
    const auto count = static_cast<double>(order[parts.axis]);
    const Value among =
        b.Op<op::LesserScalar>({parts.rank}, {.scalar = count}, "among");
    return b.Op<op::Cast>({among}, {.dtype = dtype}, "mask");
  }
  const int64_t extent = parts.data.shape()[parts.axis];
  return b.Op<op::ScatterAdd>({b.Ones({dtype, order}), parts.order},
                              {.axis = parts.axis, .extent = extent}, "mask");
}

Value SortGradient(const SortRequest& request, GradientBuilder& g, Value head) {
  const SortParts parts = SortInput(request, g.origin(), g);
  const Value sum = ScatterAdd(g, head, parts.order, parts.data.shape(),
                               parts.axis, IndexMode::kClip);
  return g.Reshape(sum, g.In(0).shape());
}

Value SortedIndices(const SortParts& parts, DType dtype, GraphBuilder& b) {
  if (dtype == parts.order.type().dtype) return parts.order;
  return b.Op<op::Cast>({parts.order}, {.dtype = dtype}, "indices");
}

}  // namespace mxc
