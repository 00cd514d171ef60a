// SPDX-License-Identifier: Apache-2.0
// States the attributes of SVMOutput.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct SvmOutputAttrs {
  double margin = 1;
  double regularization_coefficient = 1;
  bool use_linear = false;

  void Describe(Fields& f) {
    f("margin", margin).Doc("of the hinge");
    f("regularization_coefficient", regularization_coefficient)
        .Doc("factor of the gradient");
    f("use_linear", use_linear).Doc("whether the loss is not squared");
  }
};
MXC_ATTRS(SVMOutput, SvmOutputAttrs);

}  // namespace mxc
