// SPDX-License-Identifier: Apache-2.0
// _npi_column_stack: inputs beside each other: along axis 1, a vector as a column.
// C1: see np_stack.h
#include "ir/ops/numpy/np_stack.h"

namespace mxc {

MXC_OP(NpiColumnStack) {
  return NpStackOperator(
      "_npi_column_stack", "numpy.column_stack",
      [](Extents dims) {
        if (dims.size() == 1) dims.push_back(1);
        return dims;
      },
      [](int) { return 1; });
}

}  // namespace mxc
