// SPDX-License-Identifier: Apache-2.0
// States the attributes of repeat.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct RepeatAttrs {
  int64_t repeats = 1;
  std::optional<int64_t> axis = {};

  void Describe(Fields& f) {
    f("repeats", repeats).Required().Doc("how often; C2: at least 1").Min(1);
    f("axis", axis).Doc("the axis along which; None: flattened");
  }
};
MXC_ATTRS(Repeat, RepeatAttrs);

}  // namespace mxc
