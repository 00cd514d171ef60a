// SPDX-License-Identifier: Apache-2.0
// States the attributes of GridGenerator.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

enum class GridTransform : int { kAffine, kWarp };

struct GridGeneratorAttrs {
  GridTransform transform_type = GridTransform::kAffine;
  Extents target_shape = {0, 0};

  void Describe(Fields& f) {
    f("transform_type", transform_type)
        .OneOf({"affine", "warp"})
        .Required()
        .Doc("what data holds");
    f("target_shape", target_shape).Doc("(h, w), affine only");
  }
  bool affine() const { return transform_type == GridTransform::kAffine; }
};
MXC_ATTRS(GridGenerator, GridGeneratorAttrs);

}  // namespace mxc
