// SPDX-License-Identifier: Apache-2.0
// What of a network's parameters is moved, to see how its loss changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph/tensor.h"
#include "ir/support/result.h"
#include "tools/verify/loss_programs.h"

namespace mxc {

// How a parameter is moved from its value: by ±scale, each of its elements by chance.
struct Direction {
  std::string parameter;
  Tensor value;
  std::vector<bool> up;
  double scale = 1;
  double rule = 0;  // the loss's derivative along it, by the gradient

  double At(size_t i) const { return up[i] ? scale : -scale; }

  // Returns whether the loss reads the parameter: not a fixed gamma.
  bool is_read() const { return !value.empty(); }
  // The largest move of the parameter that leaves the loss nearly linear, but
  // for a factor.
  double Range() const;
  // value + by · direction, in f64.
  Tensor Moved(double by) const;
};

// Those along which it is moved at once.
using Directions = std::vector<const Direction*>;

// A derivative of the loss: several parameters are moved at once.
struct Derivative {
  Directions along;
  double rule = 0, differences = 0;

  std::string Names() const;  // of the parameters, quoted
};

// One for each parameter that has a gradient, at these inputs, and at these
// values of states that have others than their initial ones; in the order in
// which the network reads them: a group of neighbours leaves all that comes
// before them as it is, and so do its halves.
Result<std::vector<Direction>> MakeDirections(
    const LossPrograms& programs, const std::map<std::string, Tensor>& inputs,
    uint64_t seed);

// Scales them so that each changes the loss alike, as far as its range allows: no
// large derivative hides a small one that is wrong.
void Balance(std::vector<Direction>& directions);

// The loss's derivative along all of them, by the gradient.
double RuleOf(const Directions& along);

}  // namespace mxc
