// SPDX-License-Identifier: Apache-2.0
// Random networks as a user writes them: layers of all kinds with odd shapes,
// windows and borders, each upon what earlier ones left.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph/tensor.h"

namespace mxc::random {

struct DrawnInput {
  std::string name;
  Extents shape;
  // Above 0: whole numbers below this; else numbers in [-1, 1).
  int64_t classes = 0;
};

struct DrawnNetwork {
  std::string text;  // symbol JSON
  std::vector<DrawnInput> inputs;
  bool trains = false;  // all outputs are losses
  int layers = 0;
};

// The same seed gives the same network; with fewer layers (0: as many as come)
// its beginning.
DrawnNetwork DrawNetwork(uint32_t seed, bool trains, int layers = 0);

}  // namespace mxc::random
