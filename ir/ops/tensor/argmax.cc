// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/extremum.h"

namespace mxc {

MXC_OP(Argmax) {
  return Op<ExtremumAttrs>("argmax")
      .Doc("the position of the first greatest element")
      .Types(ExtremumTypes)
      .Meaning([](const ExtremumAttrs& attrs, Definition& def) {
        ExtremumMeaning(attrs, def, ReduceOp::kMax);
      })
      .ZeroGradient();
}

}  // namespace mxc
