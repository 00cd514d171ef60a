// SPDX-License-Identifier: Apache-2.0
// States the attributes of _round_to_levels.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct RoundToLevelsAttrs {
  DType levels = DType::kI8;

  void Describe(Fields& f) {
    f("levels", levels).Required().Doc("int8, uint8 or int32");
  }
};
MXC_ATTRS(RoundToLevels, RoundToLevelsAttrs);

}  // namespace mxc
