// SPDX-License-Identifier: Apache-2.0
// mxc compile --accuracy-budget: the same network of which as much as may be is
// computed with fewer bits. What that is the request says:
//
//   --weights KIND      constants that products multiply with, each by itself
//   --precision KIND    what layers read, those of the same data together
//   neither             layers of 8-bit numbers, as `mxc calibrate` makes them
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/quantize/budget.h"
#include "tools/quantize/sample_options.h"

namespace mxc {

struct BudgetedLayer {
  std::string name;
  double error = 0;  // by which layers were compared; 0: they were not
};

struct BudgetReport {
  double budget = 0;
  std::string form;  // "int8", "int4:32 weights", "bf16 layers"
  std::vector<BudgetedLayer> layers;
  BudgetOutcome outcome;  // of the layers

  // In a line.
  std::string Text() const;
};

// Turns the request into one that stays within the budget.
Result<BudgetReport> FitIntoBudget(const SampleOptions& samples, double budget,
                                   CompileRequest& request,
                                   const TellPhase& tell);

}  // namespace mxc
