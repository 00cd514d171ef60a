// SPDX-License-Identifier: Apache-2.0
// States the attributes of _csr.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct CsrAttrs {
  int64_t columns = 0;

  void Describe(Fields& f) {
    f("columns", columns)
        .Min(0)
        .Doc("of the matrix; 0: those that its readers have");
  }
};
MXC_ATTRS(Csr, CsrAttrs);

}  // namespace mxc
