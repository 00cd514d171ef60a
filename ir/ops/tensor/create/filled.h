// SPDX-License-Identifier: Apache-2.0
// Operators without inputs that fill a tensor with one number.
#pragma once

#include <string>

#include "ir/ops/op.h"

namespace mxc {

struct FilledAttrs {
  Extents shape = {};
  std::string ctx = {};
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("shape", shape).Min(-1).Doc("extents; 0 and -1 follow from the readers");
    f("ctx", ctx).Doc("device").Hint();
    f("dtype", dtype).Doc("element type");
  }
};
MXC_ATTRS(Zeros, FilledAttrs);
MXC_ATTRS(Ones, FilledAttrs);

// The shape that the attribute states; an empty one is unknown.
Shape StatedShape(const Extents& shape);

Op<FilledAttrs> FilledOperator(std::string name, std::string doc, double value);

}  // namespace mxc
