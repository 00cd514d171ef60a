// SPDX-License-Identifier: Apache-2.0
// States the attributes of _reflect.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct ReflectAttrs {
  int64_t row = 0;

  void Describe(Fields& f) {
    f("row", row).Required().Min(0).Doc("the row that becomes zero");
  }
};
MXC_ATTRS(Reflect, ReflectAttrs);

}  // namespace mxc
