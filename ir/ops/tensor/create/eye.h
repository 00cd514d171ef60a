// SPDX-License-Identifier: Apache-2.0
// States the attributes of _eye.
#pragma once

#include <cstdint>
#include <string>

#include "ir/graph/fields.h"
#include "ir/graph/tensor.h"
#include "ir/ops/operators.h"

namespace mxc {

struct EyeAttrs {
  int64_t rows = 1, columns = 0, k = 0;
  std::string ctx = {};
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("N", rows).Required().Min(1).Doc("rows");
    f("M", columns).Min(0).Doc("columns; 0: as many as rows");
    f("k", k).Doc("the diagonal; above the main one if positive");
    f("ctx", ctx).Doc("device").Hint();
    f("dtype", dtype).Doc("element type");
  }
};
MXC_ATTRS(Eye, EyeAttrs);

}  // namespace mxc
