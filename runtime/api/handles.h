// SPDX-License-Identifier: Apache-2.0
// What stands behind the handles of runtime/mxc.h.
#pragma once

#include <memory>
#include <new>
#include <utility>

#include "runtime/executor/model.h"
#include "runtime/base/status.h"
#include "runtime/executor/executor.h"
#include "runtime/mxc.h"

struct mxc_model {
  std::shared_ptr<const mxc::runtime::Model> model;
};

struct mxc_executor {
  std::unique_ptr<mxc::runtime::Executor> executor;
  size_t entry = 0;
};

namespace mxc::runtime {

// Null for success.
mxc_status* ToC(const Status& status);
// "out of memory", which needs no memory.
mxc_status* OutOfMemory();

// Calls `body`, which returns a Status, and lets no exception through: what is
// allocated is in proportion to the file, but memory may end all the same.
template <class Body>
mxc_status* Guarded(Body body) {
  try {
    return ToC(body());
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  }
}

StatusOr<size_t> FindEntry(const Tables& tables, const char* name,
                           int64_t batch);

// Of a buffer or a state.
template <class Row>
mxc_tensor Describe(const Tables& tables, const Row& row) {
  return {.name = tables.Text(row.name),
          .dtype = static_cast<mxc_dtype>(row.dtype),
          .rank = row.rank,
          .dims = row.dims,
          .bytes = row.bytes};
}

}  // namespace mxc::runtime
