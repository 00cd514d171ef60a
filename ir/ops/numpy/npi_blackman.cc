// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_window.h"

namespace mxc {

MXC_OP(NpiBlackman) {
  return WindowOperator("_npi_blackman", "numpy.blackman", {0.42, -0.5, 0.08});
}

}  // namespace mxc
