// SPDX-License-Identifier: Apache-2.0
// _npi_vstack: inputs one below the other: along axis 0, a vector as a row.
// C1: see np_stack.h
#include "ir/ops/numpy/np_stack.h"

namespace mxc {

MXC_OP(NpiVstack) {
  return NpStackOperator(
      "_npi_vstack", "numpy.vstack",
      [](Extents dims) {
        if (dims.size() == 1) dims.insert(dims.begin(), 1);
        return dims;
      },
      [](int) { return 0; });
}

}  // namespace mxc
