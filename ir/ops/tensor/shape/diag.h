// SPDX-License-Identifier: Apache-2.0
// States the attributes of diag.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct DiagAttrs {
  int64_t k = 0;
  int64_t axis1 = 0, axis2 = 1;

  void Describe(Fields& f) {
    f("k", k).Range(-1e9, 1e9).Doc("the diagonal; positive: above the main");
    f("axis1", axis1).Doc("the axis of the rows");
    f("axis2", axis2).Doc("the axis of the columns");
  }

  int64_t skipped_rows() const { return std::max<int64_t>(-k, 0); }
  int64_t skipped_columns() const { return std::max<int64_t>(k, 0); }
};
MXC_ATTRS(Diag, DiagAttrs);

}  // namespace mxc
