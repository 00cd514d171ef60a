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
#include "ir/support/work_count.h"
#include "tools/driver/plan.h"

namespace mxc {

struct GradientReport {
  int parameters = 0;  // that have a gradient, of each loss
  int compared = 0;    // derivatives: one for each of them, or for several
  double largest = 0;  // difference, relative to the loss's largest derivative
  std::string worst;   // the parameters where it is, quoted
  // Parameters along which the loss is not smooth here, nothing compared.
  std::vector<std::string> rough;
};

// One derivative for each parameter and output with a loss head: along a random
// direction of ±1, so that all elements take part. Where the network is too large
// for that, several parameters are moved at once, neighbours in the network, each
// by as much as changes the loss alike, and groups that differ are halved until
// the parameter is found. Of the loss only what a parameter reaches is computed
// again, and the small step comes first, since few kinks lie within it. A
// loss head's gradient is that of its loss up to a factor (MXNet's heads add what
// the loss averages), which is fitted. Fails naming what differs by more than
// `tolerance`, relative to the largest derivative. `count`, unless null, is
// raised by derivatives.
Result<GradientReport> CheckGradients(
    const CompileRequest& request, LoadedNetwork& network,
    const std::map<std::string, Tensor>& inputs, double tolerance,
    WorkCount* count = nullptr);

}  // namespace mxc
