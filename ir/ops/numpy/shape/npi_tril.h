// SPDX-License-Identifier: Apache-2.0
// States the attributes of _npi_tril.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct TrilAttrs {
  int64_t k = 0;

  void Describe(Fields& f) {
    f("k", k).Range(-1e9, 1e9).Doc("the last diagonal that is kept");
  }
};
MXC_ATTRS(NpiTril, TrilAttrs);

}  // namespace mxc
