// SPDX-License-Identifier: Apache-2.0
// States the attributes of _accumulate.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

enum class AccumulateMode : int { kSum, kProduct };

struct AccumulateAttrs {
  int64_t axis = -1;
  AccumulateMode mode = AccumulateMode::kSum;
  bool exclusive = false;
  bool reverse = false;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis along which");
    f("mode", mode).OneOf({"sum", "product"}).Doc("of what");
    f("exclusive", exclusive).Doc("whether its own element is left out");
    f("reverse", reverse).Doc("whether it begins at the last element");
  }
};
MXC_ATTRS(Accumulate, AccumulateAttrs);

}  // namespace mxc
