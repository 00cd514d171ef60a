// SPDX-License-Identifier: Apache-2.0
// States the attributes of _choose.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct ChooseAttrs {
  int64_t num_args = 0;

  void Describe(Fields& f) { f("num_args", num_args).Doc("number of inputs"); }
  int sides() const { return static_cast<int>((num_args - 1) / 2); }
};
MXC_ATTRS(Choose, ChooseAttrs);

}  // namespace mxc
