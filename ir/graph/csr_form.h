// SPDX-License-Identifier: Apache-2.0
// CsrForm: a matrix of which few elements are not zero, as those that each row
// names, at most so many:
//
//   matrix[n, c] = Σ_k select(indices[n, k] = c, values[n, k], 0)
//
// A row that has fewer names column -1 for the rest, whose values are 0. All rows
// name equally many, so that the batch stays an axis that can be cut.
#pragma once

#include <cstdint>

#include "ir/graph/graph.h"

namespace mxc {

struct CsrForm {
  Value indices;  // i32[N, K]
  Value values;   // t[N, K]
  int64_t columns = 0;
};

}  // namespace mxc
