// SPDX-License-Identifier: Apache-2.0
// _npi_dsplit: depths in parts; see _split_v2 for C1 … C5.
// C6  axis is 2, as mx.np says; MXNet's values for others are of no use
#include "ir/ops/tensor/split_v2.h"

namespace mxc {

MXC_OP(NpiDsplit) {
  return SplitOperator("_npi_dsplit", "numpy.dsplit",
                       [](int64_t stated, int) { return stated; })
      .Check([](const SplitV2Attrs& a) { return CheckSplitAlong(2, a); });
}

}  // namespace mxc
