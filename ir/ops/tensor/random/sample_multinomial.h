// SPDX-License-Identifier: Apache-2.0
// States the attributes of _sample_multinomial.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct MultinomialAttrs {
  Extents shape = {};
  bool get_prob = false;
  DType dtype = DType::kI32;

  void Describe(Fields& f) {
    f("shape", shape).Min(1).Doc("how many for each row");
    f("get_prob", get_prob).Doc("the logarithms of their probabilities too");
    f("dtype", dtype).Doc("element type of the classes");
  }
};
MXC_ATTRS(SampleMultinomial, MultinomialAttrs);

}  // namespace mxc
