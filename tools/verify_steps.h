// SPDX-License-Identifier: Apache-2.0
// The steps of a compiled network one by one, against the interpreter.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "ir/support/result.h"
#include "tools/difference.h"
#include "tools/step_runner.h"

namespace mxc {

using Inputs = std::map<std::string, Tensor>;  // by name

struct StepResult {
  std::string name, kernel;
  Difference difference;
};

// Runs all steps, each on what those before it left; fails at the first that is
// wrong, which is written to `repro_folder`: the step as text, its operands,
// what it gave and what is expected. What lies in a buffer transformed for a
// kernel is compared by what its readers make of it.
Result<std::vector<StepResult>> RunSteps(const Program& program,
                                         const Inputs& inputs,
                                         StepRunner& runner,
                                         const Tolerance& tolerance,
                                         const std::string& repro_folder);

}  // namespace mxc
