// SPDX-License-Identifier: Apache-2.0
// States the attributes of _npi_around.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct AroundAttrs {
  int64_t decimals = 0;

  void Describe(Fields& f) {
    f("decimals", decimals).Range(-300, 300).Doc("places after the point");
  }
};
MXC_ATTRS(NpiAround, AroundAttrs);

}  // namespace mxc
