// SPDX-License-Identifier: Apache-2.0
// States the attributes of _philox_integer.
#pragma once

#include "ir/ops/tensor/random/philox.h"

namespace mxc {

struct PhiloxIntegerAttrs : PhiloxAttrs {
  int64_t low = 0, high = 1;

  void Describe(Fields& f) {
    PhiloxAttrs::Describe(f);
    f("low", low).Range(-0x1p52, 0x1p52).Doc("the least");
    f("high", high).Range(-0x1p52, 0x1p52).Doc("above the greatest");
  }
};
MXC_ATTRS(PhiloxInteger, PhiloxIntegerAttrs);

}  // namespace mxc
