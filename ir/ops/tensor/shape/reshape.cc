// SPDX-License-Identifier: Apache-2.0
// Reshape: the elements of data, in row-major order, under another shape.
//   data    t[d0, …]
//   output  t[shape]       shape may hold the codes of reshape_codes.h
// C1  shape or target_shape is given
// C2  each entry of shape is a code or an extent, and finds the axes it needs
// C3  a split's factors multiply to the extent
// C4  an extent in place of -1 keeps the number of elements
// target_shape is the form of MXNet ≤ 0.8: 0 stands for the extent to infer,
// and keep_highest copies the first one.
// Source: MXNet 1.9.1 operator/tensor/matrix_op-inl.h.
#include "ir/ops/tensor/shape/reshape.h"
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/reshape_codes.h"
#include "ir/ops/tensor/shape/view.h"

namespace mxc {
namespace {

std::optional<std::string> CheckReshape(const ReshapeAttrs& attrs) {
  if (!attrs.shape.empty() || !attrs.target_shape.empty()) return std::nullopt;
  return "C1: neither shape nor target_shape is given";
}

// The legacy target in terms of the codes. Several zeros remain for `keep`
// alone, so what is unknown beyond the first is left to the element count.
Extents LegacyTarget(const ReshapeAttrs& attrs) {
  Extents target = attrs.target_shape;
  for (size_t i = 0; i < target.size(); ++i) {
    const bool kept = attrs.keep_highest && i == 0;
    target[i] = kept ? kCopyExtent : target[i] == 0 ? kInferExtent : target[i];
  }
  return target;
}

void ReshapeTypes(const ReshapeAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  const bool legacy = attrs.shape.empty();
  for (const int64_t code : attrs.shape) {
    if (!t.Require(code > kDropUnit, "C2: shape {} has the unknown code {}",
                   ToString(attrs.shape), code)) {
      return;
    }
  }
  t.SetOut(
      0, ReshapeByCodes(t, t.In(0), legacy ? LegacyTarget(attrs) : attrs.shape,
                        !legacy && attrs.reverse, 2));
  t.SetIn(0, SolveInput(t.In(0), t.Out(0)));
}

}  // namespace

MXC_OP(Reshape) {
  return Op<ReshapeAttrs>("Reshape")
      .Alias({"reshape"})
      .Doc("the same elements in row-major order under another shape")
      .Check(CheckReshape)
      .Types(ReshapeTypes)
      .Meaning([](const ReshapeAttrs&, Definition& def) { ViewMeaning(def); })
      .View()
      .Gradient(kViewGradient);
}

}  // namespace mxc
