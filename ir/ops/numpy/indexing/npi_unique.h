// SPDX-License-Identifier: Apache-2.0
// States the attributes of _npi_unique.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct UniqueAttrs {
  bool return_index = false, return_inverse = false, return_counts = false;
  std::optional<int64_t> axis = {};

  void Describe(Fields& f) {
    f("return_index", return_index).Doc("where each is first, too");
    f("return_inverse", return_inverse).Doc("which each element is, too");
    f("return_counts", return_counts).Doc("how often each is there, too");
    f("axis", axis).Doc("None: of all elements; 0: of rows");
  }
  int visible() const {
    return 1 + return_index + return_inverse + return_counts;
  }
};
MXC_ATTRS(NpiUnique, UniqueAttrs);

}  // namespace mxc
