// SPDX-License-Identifier: Apache-2.0
// States the attributes of col2im.
#pragma once

#include "ir/ops/tensor/shape/columns.h"

namespace mxc {

struct Col2imAttrs : ColumnsAttrs {
  Extents output_size = {};

  void Describe(Fields& f) {
    f("output_size", output_size)
        .Required()
        .Range(1, 1 << 30)
        .Doc("spatial extents of the output");
    ColumnsAttrs::Describe(f);
  }

  Shape WindowCounts() const {
    Extents windows;
    for (int k = 0; k < rank(); ++k) {
      windows.push_back(Windows(k, output_size[k]));
    }
    return Shape(windows);
  }
};
MXC_ATTRS(Col2im, Col2imAttrs);

}  // namespace mxc
