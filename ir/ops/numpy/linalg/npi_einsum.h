// SPDX-License-Identifier: Apache-2.0
// States the attributes of _npi_einsum.
#pragma once

#include <cstdint>
#include <string>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {

struct NpiEinsumAttrs {
  int64_t num_args = 1;
  std::string subscripts = {};
  int64_t optimize = 0;

  void Describe(Fields& f) {
    f("num_args", num_args).Required().Range(1, kMaxOperands).Doc("inputs");
    f("subscripts", subscripts).Doc("the letters of each input, -> of output");
    f("optimize", optimize).Doc("in which order products are formed").Hint();
  }
};
MXC_ATTRS(NpiEinsum, NpiEinsumAttrs);

}  // namespace mxc
