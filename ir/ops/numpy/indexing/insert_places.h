// SPDX-License-Identifier: Apache-2.0
// States the attributes of _insert_places.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

struct InsertPlacesAttrs {
  int64_t extent = 1;

  void Describe(Fields& f) {
    f("extent", extent).Required().Min(1).Doc("n, of the axis");
  }
};
MXC_ATTRS(InsertPlaces, InsertPlacesAttrs);

}  // namespace mxc
