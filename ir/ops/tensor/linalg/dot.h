// SPDX-License-Identifier: Apache-2.0
// States the attributes of dot.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/linalg/products.h"

namespace mxc {

struct DotAttrs {
  bool transpose_a = false, transpose_b = false;
  StorageType forward_stype = StorageType::kNone;

  void Describe(Fields& f) {
    f("transpose_a", transpose_a).Doc("lhs is summed over its first axis");
    f("transpose_b", transpose_b).Doc("rhs is summed over its last axis");
    f("forward_stype", forward_stype)
        .OneOf(kStorageTypes)
        .Doc("storage of the output; all is dense here")
        .Hint();
  }
};
MXC_ATTRS(Dot, DotAttrs);

}  // namespace mxc
