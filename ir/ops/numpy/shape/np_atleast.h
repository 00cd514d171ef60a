// SPDX-License-Identifier: Apache-2.0
// numpy.atleast_1d and its kin: each input with axes of extent 1 where it has
// fewer than `least` (1 to 3): before the others, the third one behind them.
#pragma once

#include <string>

#include "ir/ops/op.h"

namespace mxc {

struct AtleastAttrs {
  int64_t num_args = 1;

  void Describe(Fields& f);
};

Op<AtleastAttrs> AtleastOperator(std::string name, std::string doc, int least);

}  // namespace mxc
