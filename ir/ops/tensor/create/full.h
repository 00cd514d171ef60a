// SPDX-License-Identifier: Apache-2.0
// States the attributes of _full.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/create/filled.h"

namespace mxc {

struct FullAttrs : FilledAttrs {
  double value = 0;

  void Describe(Fields& f) {
    FilledAttrs::Describe(f);
    f("value", value).Required().Doc("every element");
  }
};
MXC_ATTRS(Full, FullAttrs);

}  // namespace mxc
