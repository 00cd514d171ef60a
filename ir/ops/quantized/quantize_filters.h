// SPDX-License-Identifier: Apache-2.0
// States the attributes of _quantize_filters.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct QuantizeFiltersAttrs {
  bool alike = false;

  void Describe(Fields& f) {
    f("alike", alike).Doc("all filters have the same scale");
  }
};
MXC_ATTRS(QuantizeFilters, QuantizeFiltersAttrs);

}  // namespace mxc
