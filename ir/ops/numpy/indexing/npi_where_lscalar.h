// SPDX-License-Identifier: Apache-2.0
// States the attributes of _npi_where_lscalar.
#pragma once

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct NpiWhereLscalarAttrs {
  double scalar = 0;

  void Describe(Fields& f) { f("scalar", scalar).Doc("the number"); }
};
MXC_ATTRS(NpiWhereLscalar, NpiWhereLscalarAttrs);

}  // namespace mxc
