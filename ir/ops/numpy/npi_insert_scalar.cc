// SPDX-License-Identifier: Apache-2.0
// _npi_insert_scalar: before one index: values, of which the first axis counts along axis.
// C1 … C6: see np_insert.h
#include "ir/ops/numpy/np_insert.h"

namespace mxc {

MXC_OP(NpiInsertScalar) {
  return NpInsertOperator("_npi_insert_scalar", InsertAt::kIndex);
}

}  // namespace mxc
