// SPDX-License-Identifier: Apache-2.0
// The steps of a compiled network one by one, against the interpreter.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ir/program/program.h"
#include "ir/support/result.h"
#include "ir/support/work_count.h"
#include "tools/verify/difference.h"
#include "tools/verify/step_price.h"
#include "tools/verify/step_runner.h"

namespace mxc {

using Inputs = std::map<std::string, Tensor>;  // by name

struct StepResult {
  std::string name, kernel;
  Difference difference;
  // Of each element of the outputs: what rounding may do where the step is by
  // Winograd's algorithm (rounding_bound.h), or is further off than the
  // tolerance because of its values (conditioning_bound.h); empty elsewhere.
  std::vector<Tensor> bounds;
  bool ill_conditioned = false;
  // By how much fewer bits of its weights or its result change it; none: they
  // have all.
  std::optional<double> price = std::nullopt;
  // The largest of the bounds, of the largest value.
  double bound() const;
};

// The steps that were right, of several programs: what computes the same from
// the same bytes, and leaves the same bytes, is right again.
class RightSteps {
 public:
  // What a step computes, and hashes of its operands' bytes and its outputs'.
  using Run = std::tuple<std::string, size_t, size_t>;

  // Null: nothing is known of it.
  const StepResult* Find(const Run& run) const;
  void Add(Run run, const StepResult& result);

 private:
  std::map<Run, StepResult> results_;
};

// Runs all steps, each on what those before it left; fails at the first that is
// wrong, off by more than the tolerance and its bounds, which is written to
// `repro_folder`: the step as text, its operands, what it gave and what is
// expected. What lies in a buffer transformed for a kernel is compared by what
// its readers make of it. Those in `right` are not interpreted again, new ones are
// added. `price`, unless null, says what fewer bits cost; `count`, unless null, is
// raised by the steps.
Result<std::vector<StepResult>> RunSteps(
    const Program& program, const Inputs& inputs, StepRunner& runner,
    const Tolerance& tolerance, const std::string& repro_folder,
    RightSteps& right, const StepPrice* price = nullptr,
    WorkCount* count = nullptr);

// What the roundings of Winograd's algorithm may do to each output of the
// program: kRoundingDeviations times the deviation of its elements when numbers
// of the steps' deviations are added to what these compute, seen in several
// runs on the same inputs. Zeros where no step has bounds. Leaves the outputs
// as the last of these runs made them.
Result<std::vector<double>> OutputBounds(const Program& program,
                                         const Inputs& inputs,
                                         StepRunner& runner,
                                         const std::vector<StepResult>& steps);

}  // namespace mxc
