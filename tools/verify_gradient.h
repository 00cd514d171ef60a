// SPDX-License-Identifier: Apache-2.0
// The gradients of a network against central differences of its losses, both by
// the interpreter in double: this tests the rules and how they are composed.
// That compiled gradients equal interpreted ones is for `verify` to see.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph/tensor.h"
#include "ir/support/result.h"
#include "tools/driver/plan.h"

namespace mxc {

struct GradientReport {
  int compared = 0;    // derivatives, one for each parameter and loss
  double largest = 0;  // difference, relative to the loss's largest derivative
  std::string worst;   // the parameter where it is
  // Parameters along which the loss is not smooth here, nothing compared.
  std::vector<std::string> rough;
};

// One derivative for each parameter and output with a loss head: along a random
// direction of ±1. A loss head's gradient is that of its loss up to a factor
// (MXNet's heads add what the loss averages), which is fitted. Fails naming
// what differs by more than `tolerance`, relative to the largest derivative.
Result<GradientReport> CheckGradients(
    const CompileRequest& request, LoadedNetwork& network,
    const std::map<std::string, Tensor>& inputs, double tolerance);

}  // namespace mxc
