// SPDX-License-Identifier: Apache-2.0
// States the attributes of _cholesky_column.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct CholeskyColumnAttrs {
  int64_t column = 0;
  bool lower = true;

  void Describe(Fields& f) {
    f("column", column).Required().Min(0).Doc("the column that is computed");
    f("lower", lower).Doc("L is a lower triangle");
  }
};
MXC_ATTRS(CholeskyColumn, CholeskyColumnAttrs);

}  // namespace mxc
