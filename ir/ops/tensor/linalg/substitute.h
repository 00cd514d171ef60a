// SPDX-License-Identifier: Apache-2.0
// States the attributes of _substitute.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct SubstituteAttrs {
  int64_t row = 0;
  bool forward = true, transpose = false, rightside = false;

  void Describe(Fields& f) {
    f("row", row).Required().Min(0).Doc("the row that is solved for");
    f("forward", forward).Doc("from the first row to the last");
    f("transpose", transpose).Doc("M is the transpose of A");
    f("rightside", rightside).Doc("X is transposed");
  }
};
MXC_ATTRS(Substitute, SubstituteAttrs);

}  // namespace mxc
