// SPDX-License-Identifier: Apache-2.0
// One random network, compiled in a random way, against the interpreter.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "tests/random/drawn_network.h"

namespace mxc::random {

// What may be asked of a compilation.
struct Way {
  bool trains = false;
  std::string optimizer;  // trains: empty, the gradients are outputs
  std::string target = "x86-64-v3";
  int level = 2;
  int winograd_tile = 6;
  bool strassen = true;
  // Above 0: what the passes take for the size of every cache, so that small
  // tensors pass by tiles.
  int64_t cache_bytes = 0;
  std::set<std::string> disabled;  // passes
  DType precision = DType::kF32;   // --precision
  // And once more:
  bool at_load = false;  // weights are transformed when it is opened
  bool budget = false;   // activations fit into three quarters
};

Way DrawWay(uint32_t seed);
// The same for a device, the target of that name.
Way DrawWay(uint32_t seed, const std::string& device);
// As the command line says it, as far as it can.
std::string ToString(const Way& way);

// Empty where all is right:
// - each step on what those before it left, against the interpreter;
// - the outputs, against the network as required passes alone leave it;
// - outputs and next states of two runs, by 1, 2 and 3 threads: equal bytes;
// - outputs with less memory: equal bytes.
// Else what is wrong; the network lies in `folder` then.
// On another processor (tests/cases/other_machine.h): the outputs, of one thread and
// of several. `seed` decides the values of inputs and parameters.
std::string Check(uint32_t seed, const Way& way, const DrawnNetwork& network,
                  const std::string& folder);

}  // namespace mxc::random
