// SPDX-License-Identifier: Apache-2.0
// A training step that is made again and again, its states kept: by the
// interpreter, or by a compiled artifact.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "passes/pass.h"
#include "tests/cases/engine.h"

namespace mxc {

class Stepper {
 public:
  virtual ~Stepper() = default;
  // The outputs of one run.
  virtual Result<std::vector<Tensor>> Step(
      const std::map<std::string, Tensor>& inputs) = 0;
  virtual Result<Tensor> State(const std::string& name) = 0;
};

// Plans and compiles the graph, after its graph passes, as `options` say.
Result<std::unique_ptr<Stepper>> MakeStepper(Graph graph,
                                             const TrainingOptions* training,
                                             const EngineOptions& options);

}  // namespace mxc
