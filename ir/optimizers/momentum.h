// SPDX-License-Identifier: Apache-2.0
// Momentum: part of the last step is made again.
#pragma once

#include <string>

#include "ir/optimizers/define.h"

namespace mxc {

struct MomentumOptions : OptimizerOptions {
  double momentum = 0;

  void Describe(Fields& f) {
    OptimizerOptions::Describe(f);
    f("momentum", momentum).Doc("what part of the last step is made again");
  }
  // Without momentum there is no state.
  std::string states() const { return momentum == 0 ? "None" : "momentum"; }
};

}  // namespace mxc
