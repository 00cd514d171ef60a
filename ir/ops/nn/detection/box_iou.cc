// SPDX-License-Identifier: Apache-2.0
// _contrib_box_iou: the overlap of each box with each other one.
//   lhs     f[a1 …, 4]
//   rhs     f[b1 …, 4]
//   output  f[a1 …, b1 …]   intersection / union; 0 for boxes that do not meet
// C1  the last axis has 4 entries
// Source: MXNet 1.9.1 operator/contrib/bounding_box.cc.
#include "ir/ops/nn/detection/box.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct BoxIouAttrs {
  BoxFormat format = BoxFormat::kCorner;

  void Describe(Fields& f) {
    f("format", format).OneOf({"corner", "center"}).Doc("of the boxes");
  }
};

void BoxIouTypes(const BoxIouAttrs&, TypeInference& t) {
  t.AllSameDType();
  Extents output;
  for (int k = 0; k < 2; ++k) {
    const Shape& boxes = t.In(k);
    if (!boxes.known()) return;
    if (!t.Require(boxes.rank() >= 1 && boxes[boxes.rank() - 1] == 4,
                   "C1: input {} has shape {}, expected (…, 4)", k,
                   ToString(boxes))) {
      return;
    }
    output.insert(output.end(), boxes.dims().begin(), boxes.dims().end() - 1);
  }
  t.SetOut(0, output);
}

void BoxIouMeaning(const BoxIouAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const auto split = i.begin() + (def.InShape(0).rank() - 1);
  const std::vector<Expr> indices[] = {{i.begin(), split}, {split, i.end()}};
  const auto side = [&](int input, int d) {
    return BoxSideOf(a.format, d, [&](int k) {
      std::vector<Expr> at = indices[input];
      at.push_back(k);
      return def.In(input, at);
    });
  };
  Expr meet, areas[2];
  for (int d = 0; d < 2; ++d) {
    const BoxSide lhs = side(0, d), rhs = side(1, d);
    const Expr common =
        Max(Min(lhs.high, rhs.high) - Max(lhs.low, rhs.low), def.Lit(0));
    meet = meet ? meet * common : common;
    areas[0] = areas[0] ? areas[0] * lhs.length() : lhs.length();
    areas[1] = areas[1] ? areas[1] * rhs.length() : rhs.length();
  }
  def.Set(0, Select(meet > def.Lit(0), meet / (areas[0] + areas[1] - meet),
                    def.Lit(0)));
}

}  // namespace

MXC_OP(BoxIou) {
  return Op<BoxIouAttrs>("_contrib_box_iou")
      .Doc("the overlap of each box with each other one")
      .Inputs({{"lhs"}, {"rhs"}})
      .Types(BoxIouTypes)
      .FloatsOnly()
      .Meaning(BoxIouMeaning)
      .ZeroGradient();
}

}  // namespace mxc
