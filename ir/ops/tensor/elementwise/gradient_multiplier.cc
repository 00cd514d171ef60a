// SPDX-License-Identifier: Apache-2.0
// _contrib_gradientmultiplier: the input; its gradient is scaled.
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/elementwise/unary.h"
#include "ir/ops/tensor/shape/view.h"

namespace mxc {

MXC_OP(GradientMultiplier) {
  return Op<ScalarAttrs>("_contrib_gradientmultiplier")
      .Doc("the input itself; its gradient is scaled")
      .Types([](const ScalarAttrs&, TypeInference& t) { SameTypes(t); })
      .Meaning([](const ScalarAttrs&, Definition& def) { ViewMeaning(def); })
      .View()
      .Gradient([](const ScalarAttrs& attrs, GradientBuilder& g) {
        return std::vector<Value>{g.Mul(g.Head(), attrs.scalar)};
      });
}

}  // namespace mxc
