// SPDX-License-Identifier: Apache-2.0
// Two ways to run a network: the interpreter, and a compiled artifact.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/support/result.h"

namespace mxc {

struct EngineOptions {
  std::string engine = "interpreter";  // or "compiled"
  // Compiled: this machine's level instead, where that is lower, or that of
  // another that runs networks (other_machine.h); of this one alone if `here`.
  std::string target = "x86-64-v3";
  bool here = false;
  int threads = 1;
  int level = 2;                   // -O
  std::set<std::string> disabled;  // optional passes to leave out
  // If above 0, what the passes take for the size of every cache: with small
  // ones they fuse small tensors by tiles.
  int64_t cache_bytes = 0;
};

// The graph's outputs for inputs by name. Inputs that no output depends on may
// be there; all shapes and element types are known. Outputs whose length data
// decide are as long as it says.
Result<std::vector<Tensor>> RunGraph(
    Graph graph, const std::map<std::string, Tensor>& inputs,
    const EngineOptions& options);

}  // namespace mxc
