// SPDX-License-Identifier: Apache-2.0
// _contrib_box_encode: the differences of boxes to anchors, for training.
//   samples  f[N, A]        above ½ where the anchor has a box
//   matches  f[N, A]        the number of that box
//   anchors  f[N, A, 4]     corners
//   refs     f[N, M, 4]     corners of the boxes
//   means, stds  f[4]       subtracted, then divided by
//   output0  f[N, A, 4]     differences of centres in sizes, logarithms of the
//            ratios of sizes; 0 without a box
//   output1  f[N, A, 4]     1 with a box, else 0
// C1  the inputs have the shapes above
// Source: MXNet 1.9.1 operator/contrib/bounding_box.cc.
#include "ir/ops/nn/detection/box.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

void BoxEncodeTypes(const NoAttrs&, TypeInference& t) {
  t.AllSameDType();
  const Shape &samples = t.In(0), &refs = t.In(3);
  if (!samples.known() || !refs.known()) return;
  if (!t.Require(samples.rank() == 2 && refs.rank() == 3 &&
                     refs[0] == samples[0] && refs[1] > 0 && refs[2] == 4,
                 "C1: samples has shape {} and refs {}, expected (N, A) and "
                 "(N, M, 4)",
                 ToString(samples), ToString(refs))) {
    return;
  }
  const Shape boxes = {samples[0], samples[1], 4};
  t.SetIn(1, samples);
  t.SetIn(2, boxes);
  t.SetIn(4, {4});
  t.SetIn(5, {4});
  t.SetOut(0, boxes);
  t.SetOut(1, boxes);
}

void BoxEncodeMeaning(const NoAttrs&, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Expr number = Cast(def.In(1, {i[0], i[1]}), DType::kI64);
  const Expr match = Max(Min(number, def.InShape(3)[1] - 1), 0);
  const auto difference = [&](int k) {
    const BoxSide anchor = BoxSideOf(BoxFormat::kCorner, k % 2, [&](int c) {
      return def.In(2, {i[0], i[1], c});
    });
    const BoxSide box = BoxSideOf(BoxFormat::kCorner, k % 2, [&](int c) {
      return def.In(3, {i[0], match, c});
    });
    return k < 2 ? (box.centre() - anchor.centre()) / anchor.length()
                 : Log(box.length() / anchor.length());
  };
  Expr value = difference(3);
  for (int k = 2; k >= 0; --k) value = Select(i[2] == k, difference(k), value);
  value = (value - def.In(4, {i[2]})) / def.In(5, {i[2]});
  const Expr taken = def.In(0, {i[0], i[1]}) > def.Lit(0.5);
  def.Set(0, Select(taken, value, def.Lit(0)));
  def.Set(1, Select(taken, def.Lit(1), def.Lit(0)));
}

}  // namespace

MXC_OP(BoxEncode) {
  return Op<>("_contrib_box_encode")
      .Doc("the differences of boxes to anchors")
      .Inputs({{"samples"},
               {"matches"},
               {"anchors"},
               {"refs"},
               {"means"},
               {"stds"}})
      .Outputs({"output0", "output1"})
      .Types(BoxEncodeTypes)
      .FloatsOnly()
      .Meaning(BoxEncodeMeaning)
      .ZeroGradient();
}

}  // namespace mxc
