// SPDX-License-Identifier: Apache-2.0
// States the attributes of SwapAxis.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct SwapAxisAttrs {
  int64_t dim1 = 0, dim2 = 0;

  void Describe(Fields& f) {
    f("dim1", dim1).Doc("the first axis");
    f("dim2", dim2).Doc("the second axis");
  }
};
MXC_ATTRS(SwapAxis, SwapAxisAttrs);

}  // namespace mxc
