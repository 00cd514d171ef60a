// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/scalar.h"

#include "ir/ops/tensor/unary.h"

namespace mxc {

Op<ScalarAttrs> ScalarOperator(std::string name, std::string doc,
                               BinaryFunction f, ScalarSide side) {
  Op<ScalarAttrs> op(std::move(name));
  op.Doc(std::move(doc));
  op.Types([](const ScalarAttrs&, TypeInference& t) { SameTypes(t); });
  op.Meaning([f, side](const ScalarAttrs& attrs, Definition& def) {
    const Expr x = def.In(0, def.Indices());
    const Expr number = Number(attrs.scalar, x->dtype);
    def.Set(0, side == ScalarSide::kRight ? f(x, number) : f(number, x));
  });
  op.ElementwiseGradient();
  return op;
}

}  // namespace mxc
