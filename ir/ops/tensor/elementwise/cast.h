// SPDX-License-Identifier: Apache-2.0
// States the attributes of Cast.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct CastAttrs {
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("dtype", dtype).Required().Doc("element type of the output");
  }
};
MXC_ATTRS(Cast, CastAttrs);

}  // namespace mxc
