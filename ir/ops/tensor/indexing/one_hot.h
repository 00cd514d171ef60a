// SPDX-License-Identifier: Apache-2.0
// States the attributes of one_hot.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct OneHotAttrs {
  int64_t depth = 1;
  double on_value = 1, off_value = 0;
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("depth", depth).Required().Min(1).Doc("the length of the vectors");
    f("on_value", on_value).Doc("at the index");
    f("off_value", off_value).Doc("elsewhere");
    f("dtype", dtype).Doc("element type of the output");
  }
};
MXC_ATTRS(OneHot, OneHotAttrs);

}  // namespace mxc
