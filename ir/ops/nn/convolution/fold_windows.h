// SPDX-License-Identifier: Apache-2.0
// States the attributes of _fold_windows.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct FoldWindowsAttrs {
  Extents kernel = {}, stride = {}, dilate = {}, pad = {}, count = {},
          extent = {};

  void Describe(Fields& f) {
    f("kernel", kernel).Required().Doc("extents of a window");
    f("count", count).Required().Doc("how many windows along each axis");
    f("extent", extent).Required().Doc("spatial extents of the output");
    f("stride", stride).Required().Doc("from one window to the next");
    f("dilate", dilate).Required().Doc("from one tap to the next");
    f("pad", pad).Required().Doc("cells cut off at the front");
  }
};
MXC_ATTRS(FoldWindows, FoldWindowsAttrs);

}  // namespace mxc
