// SPDX-License-Identifier: Apache-2.0
// What LRN and its gradient share.
#pragma once

#include "ir/ops/op.h"

namespace mxc {

struct LrnAttrs {
  double alpha = 1e-4;
  double beta = 0.75;
  double knorm = 2;
  int64_t nsize = 0;

  void Describe(Fields& f) {
    f("alpha", alpha).Doc("factor of the energy");
    f("beta", beta).Doc("exponent");
    f("knorm", knorm).Doc("constant term");
    f("nsize", nsize)
        .Required()
        .Range(1, 1 << 24)
        .Doc("channels in the window");
  }
};
MXC_ATTRS(LRNGradient, LrnAttrs);
MXC_ATTRS(LRN, LrnAttrs);

}  // namespace mxc
