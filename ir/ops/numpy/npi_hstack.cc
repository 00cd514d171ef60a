// SPDX-License-Identifier: Apache-2.0
// _npi_hstack: inputs one after the other along axis 1, or axis 0 of vectors.
// C1: see np_stack.h
#include "ir/ops/numpy/np_stack.h"

namespace mxc {

MXC_OP(NpiHstack) {
  return NpStackOperator(
      "_npi_hstack", "numpy.hstack", [](Extents dims) { return dims; },
      [](int rank) { return rank == 1 ? 0 : 1; });
}

}  // namespace mxc
