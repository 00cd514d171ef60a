// SPDX-License-Identifier: Apache-2.0
// What `mxc verify` has found where nothing was wrong, and how it says so.
#pragma once

#include <optional>
#include <vector>

#include "tools/terminal.h"
#include "tools/verify_gradient.h"
#include "tools/verify_steps.h"

namespace mxc {

// The largest error and the largest of the bounds, of the largest values.
struct OutputResult {
  double error = 0, bound = 0;
};

struct VerifyReport {
  std::vector<StepResult> steps;
  OutputResult outputs;
  std::optional<GradientReport> gradients;
};

// On stdout, as text or as JSON.
void PrintReport(const ReportStyle& style, const VerifyReport& report);

}  // namespace mxc
