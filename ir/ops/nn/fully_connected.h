// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/ops/op.h"

namespace mxc {

struct FullyConnectedAttrs {
  int64_t num_hidden = 0;
  bool no_bias = false;
  bool flatten = true;

  void Describe(Fields& f) {
    f("num_hidden", num_hidden)
        .Required()
        .Range(1, 1 << 30)
        .Doc("elements of an output row");
    f("no_bias", no_bias).Doc("whether there is no input bias");
    f("flatten", flatten).Doc("whether all axes but the first are one row");
  }
};
MXC_ATTRS(FullyConnected, FullyConnectedAttrs);

}  // namespace mxc
