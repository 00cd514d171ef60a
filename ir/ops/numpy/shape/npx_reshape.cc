// SPDX-License-Identifier: Apache-2.0
// _npx_reshape: Reshape with the codes of mx.npx.reshape.
//   -1 infer · -2 copy · -3 drop an extent of 1 · -4 copy the rest
//   -5 merge two · -6 a b split in two
// C1  each entry of newshape is a code or an extent, and finds its axes
// C2  a split's factors multiply to the extent
// C3  an extent in place of -1 keeps the number of elements
// Source: MXNet 1.9.1 operator/numpy/np_matrix_op.cc.
#include "ir/ops/tensor/shape/reshape_codes.h"
#include "ir/ops/tensor/shape/view.h"

namespace mxc {
namespace {

struct NpxReshapeAttrs {
  Extents newshape;
  bool reverse = false;
  std::string order = "C";

  void Describe(Fields& f) {
    f("newshape", newshape).Required().Min(-6).Doc("extents and codes");
    f("reverse", reverse).Doc("match newshape and data from the last axis");
    f("order", order).OneOf({"C"}).Doc("row-major");
  }
};

int64_t LegacyCode(int64_t code) {
  switch (code) {
    case -2:
      return kCopyExtent;
    case -3:
      return kDropUnit;
    case -4:
      return kCopyRest;
    case -5:
      return kMergeTwo;
    case -6:
      return kSplitInTwo;
  }
  return code;
}

void NpxReshapeTypes(const NpxReshapeAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  Extents target;
  for (const int64_t code : attrs.newshape) {
    if (!t.Require(code != 0, "C1: newshape {} is empty",
                   ToString(attrs.newshape))) {
      return;
    }
    target.push_back(LegacyCode(code));
  }
  t.SetOut(0, ReshapeByCodes(t, t.In(0), target, attrs.reverse, 1));
  t.SetIn(0, SolveInput(t.In(0), t.Out(0)));
}

}  // namespace

MXC_OP(NpxReshape) {
  return Op<NpxReshapeAttrs>("_npx_reshape")
      .Doc("the same elements under another shape, with the codes of npx")
      .Inputs({{"a", InputKind::kData}})
      .Types(NpxReshapeTypes)
      .Meaning(
          [](const NpxReshapeAttrs&, Definition& def) { ViewMeaning(def); })
      .View()
      .Gradient(kViewGradient);
}

}  // namespace mxc
