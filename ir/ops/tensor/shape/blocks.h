// SPDX-License-Identifier: Apache-2.0
// depth_to_space and space_to_depth: each undoes what the other does.
#pragma once

#include <string_view>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

struct BlockAttrs {
  int64_t block_size = 1;

  void Describe(Fields& f) {
    f("block_size", block_size).Required().Range(1, 1 << 30).Doc("b");
  }
};
MXC_ATTRS(DepthToSpace, BlockAttrs);
MXC_ATTRS(SpaceToDepth, BlockAttrs);

}  // namespace mxc
