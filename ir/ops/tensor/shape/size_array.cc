// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/op.h"

namespace mxc {

MXC_OP(SizeArray) {
  return Op<>("size_array")
      .Doc("the number of elements of the input as a 64-bit integer")
      .Types([](const NoAttrs&, TypeInference& t) {
        t.SetOutDType(0, DType::kI64);
        t.SetOut(0, Shape{1});
      })
      .Meaning([](const NoAttrs&, Definition& def) {
        def.Set(0, def.InShape(0).elements());
      })
      .ZeroGradient();
}

}  // namespace mxc
