// SPDX-License-Identifier: Apache-2.0
// States the attributes of _np_cumsum and _running_sum.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct CumsumAttrs {
  std::optional<int64_t> axis = {};
  std::optional<DType> dtype = {};

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis that is summed; None: the flattened input");
    f("dtype", dtype).Doc("element type of the output; None: of the input");
  }
};
MXC_ATTRS(NpCumsum, CumsumAttrs);

struct RunningSumAttrs {
  int64_t axis = 0;

  void Describe(Fields& f) { f("axis", axis).Doc("the axis that is summed"); }
};
MXC_ATTRS(RunningSum, RunningSumAttrs);

}  // namespace mxc
