// SPDX-License-Identifier: Apache-2.0
// States the attributes of _slice_assign_scalar.
#pragma once

#include "ir/ops/tensor/indexing/slicing.h"

namespace mxc {

struct SliceAssignScalarAttrs : SliceAttrs {
  double scalar = 0;

  void Describe(Fields& f) {
    f("scalar", scalar).Doc("what the slice holds");
    SliceAttrs::Describe(f);
  }
};
MXC_ATTRS(SliceAssignScalar, SliceAssignScalarAttrs);

}  // namespace mxc
