// SPDX-License-Identifier: Apache-2.0
// States the attributes of _rotate.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct RotateAttrs {
  int64_t p = 0, q = 1;

  void Describe(Fields& f) {
    f("p", p).Required().Min(0).Doc("the first axis of the plane");
    f("q", q).Required().Min(1).Doc("the second axis of the plane");
  }
};
MXC_ATTRS(Rotate, RotateAttrs);

}  // namespace mxc
