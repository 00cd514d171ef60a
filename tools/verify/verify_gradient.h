// SPDX-License-Identifier: Apache-2.0
// The gradients of a network against central differences of its losses, both by
// the interpreter in double: this tests the rules and how they are composed.
// That compiled gradients equal interpreted ones is for `verify` to see.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ir/graph/tensor.h"
#include "ir/support/result.h"
#include "ir/support/work_count.h"
#include "tools/driver/plan.h"

namespace mxc {

// Values of the inputs, and of states that are not to have their initial ones;
// those of point 0 are preferred.
struct LossPoints {
  size_t count = 1;
  std::function<Result<std::map<std::string, Tensor>>(size_t)> at;
};

// A loss that is compared elsewhere than at point 0.
struct MovedLoss {
  std::string output;
  size_t point = 0;
  bool was_cut_off = false;  // at point 0; else it is not finite there
};

struct GradientReport {
  int parameters = 0;  // that have a gradient, of each loss
  int compared = 0;    // derivatives: one for each of them, or for several
  double largest = 0;  // difference, relative to the loss's largest derivative
  std::string worst;   // the parameters where it is, quoted
  // Parameters along which the loss is not smooth here, nothing compared.
  std::vector<std::string> rough;
  std::vector<MovedLoss> moved;
  // Outputs whose loss is finite at no point, and parameters whose gradient
  // differs from that of a loss which is cut off at every point (a probability
  // so near 0 that its logarithm is not taken): whether they are right, nobody
  // knows.
  std::vector<std::string> not_finite, cut_off;

  bool is_complete() const { return not_finite.empty() && cut_off.empty(); }
};

// One derivative for each parameter and output with a loss head, at the first of
// the points where that loss is finite and nothing of it is cut off: along a random
// direction of ±1, so that all elements take part. Where the network is too large
// for that, several parameters are moved at once, neighbours in the network, each
// by as much as changes the loss alike, and groups that differ are halved until
// the parameter is found. Of the loss only what a parameter reaches is computed
// again, and the small step comes first, since few kinks lie within it. A
// loss head's gradient is that of its loss up to a factor (MXNet's heads add what
// the loss averages), which is fitted. Fails naming what differs by more than
// `tolerance`, relative to the largest derivative. `count`, unless null, is
// raised by derivatives.
Result<GradientReport> CheckGradients(const CompileRequest& request,
                                      LoadedNetwork& network,
                                      const LossPoints& points,
                                      double tolerance,
                                      WorkCount* count = nullptr);

}  // namespace mxc
