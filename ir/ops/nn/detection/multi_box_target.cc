// SPDX-License-Identifier: Apache-2.0
// _contrib_MultiBoxTarget: what a detector shall say of each anchor.
//   anchor      f[1, A, 4]        x1, y1, x2, y2
//   label       f[N, G, ≥ 5]      an object a row: class, x1, y1, x2, y2, …; the
//                                 first class of −1 ends them
//   cls_pred    f[N, classes, A]  scores, for negative_mining_ratio
//   loc_target  f[N, 4·A]         differences of the object to its anchor
//   loc_mask    f[N, 4·A]         1 for anchors of an object, else 0
//   cls_target  f[N, A]           class + 1; 0 for no object; or ignore_label
// Which anchor is which object's: _multi_box_match; the numbers:
// _multi_box_assign.
// C1  the inputs have the shapes above
// C2  variances has 4 entries
// C3  anchors and objects are fewer than 2^31
// Source: MXNet 1.9.1 operator/contrib/multibox_target.cc.
#include "ir/ops/nn/detection/multi_box_target.h"

#include "ir/ops/nn/activation/softmax.h"
#include "ir/ops/tensor/sort/argsort.h"

namespace mxc {
namespace {

std::optional<std::string> MultiBoxTargetCheck(const MultiBoxTargetAttrs& a) {
  if (a.variances.size() == 4) return std::nullopt;
  return "C2: variances must have 4 entries";
}

void MultiBoxTargetTypes(const MultiBoxTargetAttrs&, TypeInference& t) {
  t.AllSameDType();
  const Shape &anchor = t.In(0), &label = t.In(1), &scores = t.In(2);
  if (!anchor.known() || !label.known()) return;
  if (!t.Require(anchor.rank() == 3 && anchor[0] == 1 && anchor[2] == 4,
                 "C1: anchor has shape {}, expected (1, A, 4)",
                 ToString(anchor)) ||
      !t.Require(label.rank() == 3 && label[2] >= 5,
                 "C1: label has shape {}, expected (N, objects, at least 5)",
                 ToString(label)) ||
      !t.Require(
          !scores.known() || (scores.rank() == 3 && scores[0] == label[0] &&
                              scores[2] == anchor[1]),
          "C1: cls_pred has shape {}, expected ({}, classes, {})",
          ToString(scores), label[0], anchor[1])) {
    return;
  }
  const auto numbers = CheckedProduct({4, anchor[1], label[1]});
  if (!t.Require(numbers && *numbers < int64_t{1} << 31,
                 "C3: there are {} anchors and {} objects", anchor[1],
                 label[1])) {
    return;
  }
  t.SetOut(0, {label[0], 4 * anchor[1]});
  t.SetOut(1, {label[0], 4 * anchor[1]});
  t.SetOut(2, {label[0], anchor[1]});
}

std::vector<Value> MultiBoxTargetParts(const MultiBoxTargetAttrs& attrs,
                                       const Node& node, GraphBuilder& b) {
  const Value anchor = node.inputs[0], label = node.inputs[1];
  const Value overlaps =
      b.Op<op::BoxIou>({b.Reshape(anchor, {anchor.shape()[1], 4}),
                        b.SliceAxis(label, 2, 1, 5, "objects")},
                       "overlaps");
  std::vector<Value> inputs = {overlaps, label};
  if (attrs.mines()) {
    const Value chances =
        b.Op<op::Softmax>({node.inputs[2]}, {.axis = 1}, "chances");
    const Shape& shape = node.inputs[2].shape();
    inputs.push_back(b.Op<op::Argsort>(
        {b.Reshape(b.SliceAxis(chances, 1, 0, 1, "chance_of_none"),
                   {shape[0], shape[2]})},
        {.axis = 1, .dtype = DType::kI32}, "order"));
  }
  const Value match = b.Op<op::MultiBoxMatch>(inputs, attrs, "match");
  return b.Ops<op::MultiBoxAssign>({anchor, label, match}, attrs);
}

}  // namespace

MXC_OP(MultiBoxTarget) {
  return Op<MultiBoxTargetAttrs>("_contrib_MultiBoxTarget")
      .Doc("what a detector shall say of each anchor")
      .Alias({"MultiBoxTarget", "_npx_multibox_target"})
      .Inputs({{"anchor"}, {"label", InputKind::kLabel}, {"cls_pred"}})
      .Outputs({"loc_target", "loc_mask", "cls_target"})
      .Check(MultiBoxTargetCheck)
      .Types(MultiBoxTargetTypes)
      .FloatsOnly()
      .Decompose(MultiBoxTargetParts)
      .ZeroGradient();
}

}  // namespace mxc
