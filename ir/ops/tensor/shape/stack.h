// SPDX-License-Identifier: Apache-2.0
// States the attributes of stack.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {

struct StackAttrs {
  int64_t axis = 0;
  int64_t num_args = 1;

  void Describe(Fields& f) {
    f("axis", axis).Doc("position of the new axis in the output");
    f("num_args", num_args).Required().Range(1, kMaxOperands).Doc("inputs");
  }
};
MXC_ATTRS(Stack, StackAttrs);

}  // namespace mxc
