// SPDX-License-Identifier: Apache-2.0
// States the attributes of add_n.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {

struct AddNAttrs {
  int64_t num_args = 1;

  void Describe(Fields& f) {
    f("num_args", num_args).Required().Range(1, kMaxOperands).Doc("inputs");
  }
};
MXC_ATTRS(AddN, AddNAttrs);

}  // namespace mxc
