// SPDX-License-Identifier: Apache-2.0
// One of ONNX's node tests as a graph, for what is asked of it besides its
// outputs.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "ir/graph/graph.h"
#include "ir/graph/tensor.h"
#include "ir/support/result.h"
#include "tests/cases/engine.h"

namespace mxc {

struct OnnxCase {
  Graph graph;                           // all types are known
  std::map<std::string, Tensor> inputs;  // those that are bound, too
};

Result<OnnxCase> ReadOnnxCase(const std::filesystem::path& folder);

// The gradients of a random sum of the case's outputs against central
// differences, both by the interpreter in double, and those of the engine
// against these. Fails with "WRONG: …" where they differ, with another sentence
// where there is nothing to compare.
Status CheckOnnxGradients(const std::filesystem::path& folder,
                          const EngineOptions& engine);

}  // namespace mxc
