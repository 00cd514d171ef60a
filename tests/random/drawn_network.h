// SPDX-License-Identifier: Apache-2.0
// Random networks as a user writes them: layers of all kinds with odd shapes,
// windows and borders, each upon what earlier ones left.
#pragma once

#include <cstdint>
#include <functional>
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

struct DrawOptions {
  bool trains = false;
  // Above 0: the beginning of the network, so many layers.
  int layers = 0;
  // How many times as large tensors and layers may be as what the interpreter
  // takes a moment for.
  double size = 1;
};

// The same arguments give the same network.
DrawnNetwork DrawNetwork(uint32_t seed, const DrawOptions& options);
// `chance` gives the numbers that decide.
DrawnNetwork DrawNetwork(std::function<uint32_t()> chance,
                         const DrawOptions& options);

}  // namespace mxc::random
