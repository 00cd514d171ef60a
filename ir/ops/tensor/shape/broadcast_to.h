// SPDX-License-Identifier: Apache-2.0
// States the attributes of broadcast_to.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct BroadcastToAttrs {
  Extents shape = {};

  void Describe(Fields& f) {
    f("shape", shape).Min(0).Doc("extents of the output; 0: that of data");
  }
};
MXC_ATTRS(BroadcastTo, BroadcastToAttrs);

}  // namespace mxc
