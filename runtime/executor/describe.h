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

// The axis of an input or an output of which the first entries alone count, as
// many as was said (mxc_set_length); -1: none.
inline int OpenAxisOf(const mxc_buffer& buffer) {
  const bool own = buffer.kind == MXC_BUFFER_INPUT ||
                   buffer.kind == MXC_BUFFER_OUTPUT;
  return own ? static_cast<int>(buffer.offset) - 1 : -1;
}

}  // namespace mxc::runtime
