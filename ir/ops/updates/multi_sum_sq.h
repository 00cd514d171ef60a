// SPDX-License-Identifier: Apache-2.0
// States the attributes of multi_sum_sq.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {

struct MultiSumSqAttrs {
  int64_t num_arrays = 1;

  void Describe(Fields& f) {
    f("num_arrays", num_arrays).Required().Range(1, kMaxOperands).Doc("inputs");
  }
};
MXC_ATTRS(MultiSumSq, MultiSumSqAttrs);

}  // namespace mxc
