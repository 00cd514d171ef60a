// SPDX-License-Identifier: Apache-2.0
// _npi_hsplit: columns in parts; see _split_v2 for C1 … C5.
// A vector is cut along its one axis.
// C6  axis is 1, as mx.np says; MXNet's values for others are of no use
#include "ir/ops/tensor/split_v2.h"

namespace mxc {

MXC_OP(NpiHsplit) {
  return SplitOperator("_npi_hsplit", "numpy.hsplit",
                       [](int64_t stated, int rank) -> int64_t {
                         return rank == 1 && stated == 1 ? 0 : stated;
                       })
      .Check([](const SplitV2Attrs& a) { return CheckSplitAlong(1, a); });
}

}  // namespace mxc
