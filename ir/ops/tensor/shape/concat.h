// SPDX-License-Identifier: Apache-2.0
// States the attributes of Concat.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {

struct ConcatAttrs {
  int64_t num_args = 1;
  int64_t dim = 1;

  void Describe(Fields& f) {
    f("num_args", num_args).Required().Range(1, kMaxOperands).Doc("inputs");
    f("dim", dim).Doc("the axis along which the inputs are joined");
  }
};
MXC_ATTRS(Concat, ConcatAttrs);

}  // namespace mxc
