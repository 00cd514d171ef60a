// SPDX-License-Identifier: Apache-2.0
// States the attributes of _linalg_makediag.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct MakeDiagAttrs {
  int64_t offset = 0;

  void Describe(Fields& f) {
    f("offset", offset)
        .Range(-1e9, 1e9)
        .Doc("the diagonal; above the main one if positive");
  }
};
MXC_ATTRS(LinalgMakediag, MakeDiagAttrs);

}  // namespace mxc
