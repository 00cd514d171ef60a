// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/elementwise/unary.h"
#include "ir/ops/tensor/shape/view.h"

namespace mxc {

MXC_OP(Copy) {
  return Op<>("_copy")
      .Alias({"identity", "_np_copy", "_npx_identity", "_CrossDeviceCopy",
              "_copyto", "_npi_copyto"})
      .Doc("the input itself")
      .Types([](const NoAttrs&, TypeInference& t) { SameTypes(t); })
      .Meaning([](const NoAttrs&, Definition& def) { ViewMeaning(def); })
      .View()
      .PassGradient();
}

}  // namespace mxc
