// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/extremum.h"

namespace mxc {

MXC_OP(Argmin) {
  return Op<ExtremumAttrs>("argmin")
      .Doc("the position of the first least element")
      .Types(ExtremumTypes)
      .Meaning([](const ExtremumAttrs& attrs, Definition& def) {
        ExtremumMeaning(attrs, def, ReduceOp::kMin);
      })
      .ZeroGradient();
}

}  // namespace mxc
