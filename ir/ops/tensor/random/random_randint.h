// SPDX-License-Identifier: Apache-2.0
// States the attributes of _random_randint.
#pragma once

#include <cstdint>
#include <string>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct RandintAttrs {
  int64_t low = 0, high = 0;
  Extents shape = {};
  std::string ctx = {};
  DType dtype = DType::kI32;

  void Describe(Fields& f) {
    f("low", low).Required().Range(-0x1p52, 0x1p52).Doc("the least");
    f("high", high).Required().Range(-0x1p52, 0x1p52).Doc("above the greatest");
    f("shape", shape).Min(1).Doc("extents");
    f("ctx", ctx).Doc("device").Hint();
    f("dtype", dtype).Doc("element type of the output");
  }
};
MXC_ATTRS(RandomRandint, RandintAttrs);

}  // namespace mxc
