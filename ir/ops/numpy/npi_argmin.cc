// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/extremum.h"

namespace mxc {

MXC_OP(NpiArgmin) {
  return Op<ExtremumAttrs>("_npi_argmin")
      .Doc("the position of the first least element, an i64")
      .Types(NpExtremumTypes)
      .Meaning([](const ExtremumAttrs& attrs, Definition& def) {
        ExtremumMeaning(attrs, def, ReduceOp::kMin);
      })
      .ZeroGradient();
}

}  // namespace mxc
