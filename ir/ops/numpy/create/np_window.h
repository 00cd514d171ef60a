// SPDX-License-Identifier: Apache-2.0
// NumPy's windows: M numbers, a sum of cosines of the position's angle 2πn/(M−1).
#pragma once

#include <string>
#include <vector>

#include "ir/ops/op.h"

namespace mxc {

struct WindowAttrs {
  int64_t count = 1;
  std::string ctx;
  DType dtype = DType::kF32;

  void Describe(Fields& f) {
    f("M", count).Required().Min(1).Doc("how many numbers");
    f("ctx", ctx).Doc("device").Hint();
    f("dtype", dtype).Doc("element type");
  }
};

// Σ factors[k] · cos(k · angle); 1 where M is 1.
Op<WindowAttrs> WindowOperator(std::string name, std::string doc,
                               std::vector<double> factors);

}  // namespace mxc
