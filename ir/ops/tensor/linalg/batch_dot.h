// SPDX-License-Identifier: Apache-2.0
// States the attributes of batch_dot.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/linalg/products.h"

namespace mxc {

struct BatchDotAttrs {
  bool transpose_a = false, transpose_b = false;
  StorageType forward_stype = StorageType::kNone;

  void Describe(Fields& f) {
    f("transpose_a", transpose_a).Doc("the matrices of lhs are transposed");
    f("transpose_b", transpose_b).Doc("the matrices of rhs are transposed");
    f("forward_stype", forward_stype)
        .OneOf(kStorageTypes)
        .Doc("storage of the output; all is dense here")
        .Hint();
  }
};
MXC_ATTRS(BatchDot, BatchDotAttrs);

}  // namespace mxc
