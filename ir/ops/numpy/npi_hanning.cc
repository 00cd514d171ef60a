// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_window.h"

namespace mxc {

MXC_OP(NpiHanning) {
  return WindowOperator("_npi_hanning", "numpy.hanning", {0.5, -0.5});
}

}  // namespace mxc
