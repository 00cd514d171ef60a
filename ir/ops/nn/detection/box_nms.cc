// SPDX-License-Identifier: Apache-2.0
// _contrib_box_nms: drops boxes that overlap one of a higher score.
//   data    f[…, A, K]     each row a box with its score
//   output  f[…, A, K]     the rows that stay, by score; the others −1
//   temp    f[…, A, 1]     hidden: which rows they are; −1
// C1  data has at least 2 axes, and rows for the columns that are named
// C2  there are fewer than 2^31 rows
// The gradient of a row that stays is that of where it went.
// Source: MXNet 1.9.1 operator/contrib/bounding_box.cc.
#include "ir/ops/nn/detection/box_nms.h"

#include <algorithm>

#include "ir/ops/tensor/elementwise/cast.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/gathering.h"
#include "ir/ops/tensor/sort/argsort.h"

namespace mxc {

void SetBoxNmsShapes(const BoxNmsAttrs& a, TypeInference& t) {
  t.SetOut(0, t.In(0));
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  const int last = data.rank() - 1;
  const int64_t columns =
      std::max({a.coord_start + 4, a.score_index + 1, a.id_index + 1});
  if (!t.Require(
          last >= 1 && (!data.known(last) || data[last] >= columns),
          "C1: data has shape {}, expected at least 2 axes and {} columns",
          ToString(data), columns)) {
    return;
  }
  const int64_t rows = data[last - 1];
  if (!t.Require(rows < int64_t{1} << 31, "C2: data has {} rows", rows)) return;
  Shape temp = data;
  temp[last] = 1;
  t.SetOut(1, temp);
}

namespace {

std::vector<Value> BoxNmsByScore(const BoxNmsAttrs& attrs, const Node& node,
                                 GraphBuilder& b) {
  const Value data = node.inputs[0];
  const int last = data.shape().rank() - 1;
  const Value scores =
      b.SliceAxis(data, last, attrs.score_index, attrs.score_index + 1);
  const Value order = b.Op<op::Argsort>(
      {scores}, {.axis = last - 1, .is_ascend = false, .dtype = DType::kI32},
      "order");
  return b.Ops<op::BoxNmsSorted>({data, order}, attrs);
}

std::vector<Value> BoxNmsGradient(const BoxNmsAttrs&, GradientBuilder& g) {
  const Shape& shape = g.In(0).shape();
  const Value rows = g.Out(1);
  const Value kept = g.Op<op::GreaterEqualScalar>({rows}, {.scalar = 0});
  const Value places =
      g.BroadcastTo(g.Op<op::Cast>({rows}, {.dtype = DType::kI32}), shape);
  return {ScatterAdd(g, g.Op<op::BroadcastMul>({g.Head(), kept}), places, shape,
                     shape.rank() - 2, IndexMode::kClip)};
}

}  // namespace

MXC_OP(BoxNms) {
  return Op<BoxNmsAttrs>("_contrib_box_nms")
      .Doc("drops boxes that overlap one of a higher score")
      .Alias({"_contrib_box_non_maximum_suppression"})
      .Outputs({"output", "temp"}, 1)
      .Types([](const BoxNmsAttrs& attrs, TypeInference& t) {
        t.AllSameDType();
        SetBoxNmsShapes(attrs, t);
      })
      .FloatsOnly()
      .Decompose(BoxNmsByScore)
      .Gradient(BoxNmsGradient);
}

}  // namespace mxc
