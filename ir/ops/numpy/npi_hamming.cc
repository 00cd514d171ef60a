// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/np_window.h"

namespace mxc {

MXC_OP(NpiHamming) {
  return WindowOperator("_npi_hamming", "numpy.hamming", {0.54, -0.46});
}

}  // namespace mxc
