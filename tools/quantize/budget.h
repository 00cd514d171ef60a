// SPDX-License-Identifier: Apache-2.0
// Which layers of a network may be computed with fewer bits: those that are off
// by most have all their bits again, as many as it takes for the network to be
// as good as was asked for, on samples.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "runtime/fit/request.h"
#include "tools/driver/request.h"
#include "tools/quantize/trial.h"

namespace mxc {

// A network, what its forms are measured on, and how much worse they may be.
struct MeasuredRequest {
  CompileRequest compile;  // with the shapes that a batch has
  fit::SampleRequest samples, validation;
  double accuracy_budget = 0.5;  // as Accuracy::WorseThan
  int threads = 0;               // 0: one for each processor
};

// Called with what has been done so far, a phase and a sentence.
using TellPhase =
    std::function<void(const char* phase, const std::string& text)>;

struct BudgetOutcome {
  std::vector<bool> narrow;  // by layer: it has fewer bits
  Accuracy before, after;    // with all bits, and as `narrow` says
  int trials = 0;            // that it took

  int64_t count() const;  // of layers that have fewer bits
};

// Makes a trial of the network whose layers have fewer bits where `narrow` is
// true.
using TrialMaker =
    std::function<Result<Trial>(const std::vector<bool>& narrow)>;

// `errors`: what each layer is off by, alone, by which they are compared;
// nullopt: it has all its bits whatever comes. `what` says what becomes of
// layers: "layers of 8-bit numbers".
Result<BudgetOutcome> KeepWithinBudget(
    const MeasuredRequest& request,
    const std::vector<std::optional<double>>& errors, const TrialMaker& form,
    const std::string& what, const TellPhase& tell);

// The same where what a layer is off by has to be measured: by how much the
// network's output differs if it alone has fewer bits, a trial each. Only where
// all of them together are too much; `errors` are empty otherwise.
struct MeasuredLayers {
  BudgetOutcome outcome;
  std::vector<double> errors;
};
Result<MeasuredLayers> MeasureWithinBudget(const MeasuredRequest& request,
                                           size_t layers,
                                           const TrialMaker& form,
                                           const std::string& what,
                                           const TellPhase& tell);

}  // namespace mxc
