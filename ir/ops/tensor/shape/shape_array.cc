// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/op.h"

namespace mxc {
namespace {

void ShapeArrayMeaning(const NoAttrs&, Definition& def) {
  for (int axis = 0; axis < def.InShape(0).rank(); ++axis) {
    def.SetBox(0, {axis}, {1}, def.InShape(0)[axis]);
  }
}

}  // namespace

MXC_OP(ShapeArray) {
  return Op<>("shape_array")
      .Alias({"_npx_shape_array"})
      .Doc("the extents of the input as 64-bit integers")
      .Types([](const NoAttrs&, TypeInference& t) {
        t.SetOutDType(0, DType::kI64);
        if (t.In(0).known_rank()) t.SetOut(0, Shape{t.In(0).rank()});
      })
      .Meaning(ShapeArrayMeaning)
      .ZeroGradient();
}

}  // namespace mxc
