// SPDX-License-Identifier: Apache-2.0
// Where mxc verify --grad compares a network's gradients with its loss: at the
// values that it has, else at others. The logarithm of a negative number has no
// loss to compare with, nor has 1 / x where x is nearly 0.
#pragma once

#include <cstddef>
#include <string>

#include "ir/program/program.h"
#include "ir/support/result.h"
#include "tools/driver/network.h"
#include "tools/verify/verify_inputs.h"

namespace mxc {

// What inputs that the user does not give are drawn from, where they are floats
// that choose no position, and what becomes of parameters that were drawn.
struct Point {
  InputRange inputs;
  bool magnitudes = false;  // of the parameters
  double factor = 1;        // by which they are multiplied
};

// The points that are tried, in this order; the first is as it is without them.
size_t CountPoints();
Point PointAt(size_t index);

// "inputs drawn from 0.5 to 1, the magnitudes of the drawn parameters times 0.5"
std::string Describe(const Point& point);

// The source of the inputs and parameters at a point; `plain` has "grad:NAME"
// of each parameter among its outputs. Parameters of a file stay as they are.
InputSource SourceAt(const Point& point, const InputSource& source,
                     const LoadedNetwork& network, const Program& plain);

}  // namespace mxc
