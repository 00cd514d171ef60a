// SPDX-License-Identifier: Apache-2.0
// _npi_dstack: inputs along axis 2, a vector of n as (1, n, 1), a matrix as (m, n, 1).
// C1: see np_stack.h
#include "ir/ops/numpy/np_stack.h"

namespace mxc {

MXC_OP(NpiDstack) {
  return NpStackOperator(
      "_npi_dstack", "numpy.dstack",
      [](Extents dims) {
        if (dims.size() == 1) dims.insert(dims.begin(), 1);
        if (dims.size() == 2) dims.push_back(1);
        return dims;
      },
      [](int) { return 2; });
}

}  // namespace mxc
