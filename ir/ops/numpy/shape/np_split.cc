// SPDX-License-Identifier: Apache-2.0
// numpy.hsplit and numpy.dsplit; see _split_v2 for C1 … C5.
#include "ir/ops/tensor/shape/split_v2.h"

namespace mxc {

// Columns in parts; a vector is cut along its one axis.
// C6  axis is 1, as mx.np says; MXNet's values for others are of no use
MXC_OP(NpiHsplit) {
  return SplitOperator("_npi_hsplit", "numpy.hsplit",
                       [](int64_t stated, int rank) -> int64_t {
                         return rank == 1 && stated == 1 ? 0 : stated;
                       })
      .Check([](const SplitV2Attrs& a) { return CheckSplitAlong(1, a); });
}

// Depths in parts.
// C6  axis is 2, as mx.np says; MXNet's values for others are of no use
MXC_OP(NpiDsplit) {
  return SplitOperator("_npi_dsplit", "numpy.dsplit",
                       [](int64_t stated, int) { return stated; })
      .Check([](const SplitV2Attrs& a) { return CheckSplitAlong(2, a); });
}

}  // namespace mxc
