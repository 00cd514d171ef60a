// SPDX-License-Identifier: Apache-2.0
// States the attributes of moments.
#pragma once

#include <optional>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/reduction/reduction.h"

namespace mxc {

struct MomentsAttrs {
  std::optional<Extents> axes = {};
  bool keepdims = false;

  void Describe(Fields& f) {
    f("axes", axes).Doc("the axes to reduce; None and (): all");
    f("keepdims", keepdims).Doc("reduced axes stay, with extent 1");
  }

  ReductionAttrs reduction() const { return {axes, keepdims, false}; }
};
MXC_ATTRS(Moments, MomentsAttrs);

}  // namespace mxc
