// SPDX-License-Identifier: Apache-2.0
// Rows of the tables as the public API describes them.
#pragma once

#include "runtime/artifact/tables.h"
#include "runtime/mxc.h"

namespace mxc::runtime {

// Of a buffer or a state.
template <class Row>
mxc_tensor Describe(const Tables& tables, const Row& row) {
  return {.name = tables.Text(row.name),
          .dtype = static_cast<mxc_dtype>(row.dtype),
          .rank = row.rank,
          .dims = row.dims,
          .bytes = row.bytes,
          .use = static_cast<mxc_use>(row.role)};
}

}  // namespace mxc::runtime
