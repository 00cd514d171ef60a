// SPDX-License-Identifier: Apache-2.0
// States the attributes of clip.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct ClipAttrs {
  double a_min = 0, a_max = 0;

  void Describe(Fields& f) {
    f("a_min", a_min).Required().Doc("the least value");
    f("a_max", a_max).Required().Doc("the greatest value");
  }
};
MXC_ATTRS(Clip, ClipAttrs);

}  // namespace mxc
