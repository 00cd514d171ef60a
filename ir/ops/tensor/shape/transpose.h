// SPDX-License-Identifier: Apache-2.0
// States the attributes of transpose.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct TransposeAttrs {
  Extents axes = {};

  void Describe(Fields& f) {
    f("axes", axes).Doc("the order of the axes; (): reversed");
  }
};
MXC_ATTRS(Transpose, TransposeAttrs);

}  // namespace mxc
