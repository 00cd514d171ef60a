// SPDX-License-Identifier: Apache-2.0
// _npi_insert_slice: one value before each index of a slice, or all before its only one.
// C1 … C6: see np_insert.h
#include "ir/ops/numpy/np_insert.h"

namespace mxc {

MXC_OP(NpiInsertSlice) {
  return NpInsertOperator("_npi_insert_slice", InsertAt::kSlice);
}

}  // namespace mxc
