// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/extremum.h"

namespace mxc {

MXC_OP(NpiArgmax) {
  return Op<ExtremumAttrs>("_npi_argmax")
      .Doc("the position of the first greatest element, an i64")
      .Types(NpExtremumTypes)
      .Meaning([](const ExtremumAttrs& attrs, Definition& def) {
        ExtremumMeaning(attrs, def, ReduceOp::kMax);
      })
      .ZeroGradient();
}

}  // namespace mxc
