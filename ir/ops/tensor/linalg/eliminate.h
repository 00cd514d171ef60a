// SPDX-License-Identifier: Apache-2.0
// States the attributes of _eliminate.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct EliminateAttrs {
  int64_t row = 0;
  bool passes_zeros = false;

  void Describe(Fields& f) {
    f("row", row)
        .Required()
        .Min(0)
        .Doc("the row that is taken from the others");
    f("passes_zeros", passes_zeros)
        .Doc("takes nothing from the others where the pivot is 0");
  }
};
MXC_ATTRS(Eliminate, EliminateAttrs);

}  // namespace mxc
