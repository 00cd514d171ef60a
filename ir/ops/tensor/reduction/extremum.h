// SPDX-License-Identifier: Apache-2.0
// Where the greatest or the least element stands.
#pragma once

#include <string>

#include "ir/ops/op.h"

namespace mxc {

struct ExtremumAttrs {
  std::optional<int64_t> axis = {};
  bool keepdims = false;

  void Describe(Fields& f) {
    f("axis", axis).Doc("the axis to search; None: the flattened data");
    f("keepdims", keepdims).Doc("the axis stays, with extent 1");
  }
};
MXC_ATTRS(Argmax, ExtremumAttrs);
MXC_ATTRS(NpiArgmax, ExtremumAttrs);
MXC_ATTRS(NpiArgmin, ExtremumAttrs);

// The position of the first extremum in the element type of data, as MXNet has
// it; the first NaN if there is one. `op` is kMax or kMin.
// C1  axis is in range
void ExtremumTypes(const ExtremumAttrs& attrs, TypeInference& t);
// The same as an i64, and of shape () where no axis is left.
void NpExtremumTypes(const ExtremumAttrs& attrs, TypeInference& t);
void ExtremumMeaning(const ExtremumAttrs& attrs, Definition& def, ReduceOp op);

Op<ExtremumAttrs> ExtremumOperator(std::string name, std::string doc,
                                   ReduceOp reduce,
                                   void (*types)(const ExtremumAttrs&,
                                                 TypeInference&));

}  // namespace mxc
