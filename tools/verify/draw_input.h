// SPDX-License-Identifier: Apache-2.0
// Draws values for the inputs that the user does not give; they fit what the
// inputs mean to the network.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ir/program/program.h"

namespace mxc {

// The inputs whose values choose a position along an axis (the rows of an
// embedding, the class of a sample), and how many positions there are; the
// fewest, where it is of several axes. `plain`: without optimization.
std::map<std::string, int64_t> FindPositionInputs(const Program& plain);

// Where floats lie that choose no position: in [low, high).
struct InputRange {
  double low = -1, high = 1;
};

// Positions are whole numbers, 0 to positions − 1. Where `positions` is 0,
// floats lie in the range, signed integers in [-8, 8), unsigned ones in [0, 16).
// The same for the same seed and name.
Tensor DrawInput(const Buffer& input, int64_t positions, uint64_t seed,
                 const InputRange& range = {});

}  // namespace mxc
