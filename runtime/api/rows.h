// SPDX-License-Identifier: Apache-2.0
// Rows of an entry's tables for the functions of mxc.h that describe them.
#pragma once

#include <cstddef>

#include "runtime/api/handles.h"

namespace mxc::runtime {

inline Status Missing(const char* what, size_t index, size_t count) {
  return Fail(StatusCode::kNotFound, "no %s %zu; there are %zu", what, index,
              count);
}

// The row `index` of what `rows` gives for entry `entry`; `row` is where it is
// to be described.
template <class Rows, class Use>
mxc_status* WithRow(const mxc_model* model, size_t entry, size_t index,
                    const char* what, Needed row, Rows rows, Use use) {
  return Guarded({{model, "model"}, row}, [&]() -> Status {
    const Tables& tables = model->model->tables();
    if (entry >= tables.entries().size()) {
      return Missing("entry", entry, tables.entries().size());
    }
    const auto found = (tables.*rows)(tables.entries()[entry]);
    if (index >= found.size()) return Missing(what, index, found.size());
    use(tables, tables.Buffers(tables.entries()[entry]), found[index]);
    return {};
  });
}

}  // namespace mxc::runtime
