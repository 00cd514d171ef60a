// SPDX-License-Identifier: Apache-2.0
// _contrib_boolean_mask: the rows whose index is not zero. Its output has room
// for all of them; bound-shapes (passes/bound_shapes.cc) carries on how many
// there are.
//   data    t[N, …]
//   index   s[N]       NaN is not zero
//   output  t[N, …]    the rows; then the last of them again, whose gradients
//                      bound-shapes keeps 0
//   count   i32[1]     how many rows there are; hidden
// C1  axis is 0
// C2  index has as many elements as data has rows
// Source: MXNet 1.9.1 operator/contrib/boolean_mask.cc.
#include <fmt/format.h>

#include "ir/ops/op.h"
#include "ir/ops/tensor/indexing/take.h"

namespace mxc {
namespace {

struct BooleanMaskAttrs {
  int64_t axis = 0;

  void Describe(Fields& f) { f("axis", axis).Doc("of data; MXNet takes 0"); }
};

std::optional<std::string> CheckBooleanMask(const BooleanMaskAttrs& a) {
  if (a.axis == 0) return std::nullopt;
  return fmt::format("C1: axis is {}, expected 0", a.axis);
}

void BooleanMaskTypes(const BooleanMaskAttrs&, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetOutDType(1, DType::kI32);
  t.SetOut(0, t.In(0));
  t.SetOut(1, {1});
  const Shape &data = t.In(0), &index = t.In(1);
  if (!data.known_rank()) return;
  const bool fits = data.rank() > 0 &&
                    (!index.known_rank() ||
                     (index.rank() == 1 && (!index.known(0) || !data.known(0) ||
                                            index[0] == data[0])));
  if (t.Require(fits,
                "C2: index has shape {}, expected one element for each row of "
                "data, of shape {}",
                ToString(index), ToString(data))) {
    t.SetIn(1, {data[0]});
  }
}

std::vector<Value> BooleanMaskParts(const BooleanMaskAttrs&, const Node& node,
                                    GraphBuilder& b) {
  const std::vector<Value> rows =
      b.Ops<op::NonzeroPlaces>({node.inputs[1]}, "rows");
  return {b.Op<op::Take>({node.inputs[0], rows[0]}, "taken"), rows[1]};
}

}  // namespace

MXC_OP(BooleanMask) {
  return Op<BooleanMaskAttrs>("_contrib_boolean_mask")
      .Alias({"_npi_boolean_mask"})
      .Doc("the rows whose index is not zero; how many, data decide")
      .Inputs({{"data", InputKind::kData}, {"index", InputKind::kData}})
      .Outputs({"output", "count"}, 1)
      .Check(CheckBooleanMask)
      .Types(BooleanMaskTypes)
      .LengthByData({.count = 1, .axes = {0}, .by = {1}})
      .Decompose(BooleanMaskParts);
}

}  // namespace mxc
