// SPDX-License-Identifier: Apache-2.0
// numpy.hstack and its kin: inputs, each under a shape with an axis to join
// along, one after the other.
#pragma once

#include <string>

#include "ir/ops/op.h"

namespace mxc {

struct NpStackAttrs {
  int64_t num_args = 1;
  int64_t dim = 1;

  void Describe(Fields& f);
};

// `reshaped` gives the shape under which an input is joined, with at least one
// axis, `axis` along which of so many.
//   C1  the extents of the other axes agree
Op<NpStackAttrs> NpStackOperator(std::string name, std::string doc,
                                 Extents (*reshaped)(Extents dims),
                                 int (*axis)(int rank));

}  // namespace mxc
