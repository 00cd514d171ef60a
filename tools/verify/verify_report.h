// SPDX-License-Identifier: Apache-2.0
// What `mxc verify` has found where nothing was wrong, and how it says so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/terminal.h"
#include "tools/verify/verify_gradient.h"
#include "tools/verify/verify_steps.h"

namespace mxc {

// The largest error and the largest of the bounds, of the largest values.
struct OutputResult {
  double error = 0, bound = 0;
  // Beyond the tolerance, within what roundings do (conditioning_bound.h).
  bool ill_conditioned = false;
  // By how much fewer bits change the outputs, of the largest value; none: all
  // have all bits.
  std::optional<double> price = std::nullopt;
  // At which an entry for any was run, by name; none: it has its own.
  std::map<std::string, int64_t> lengths = {};
};

// What has fewer bits than f32, where anything has: what is priced.
enum class FewerBits { kWeights, kPrecision };

struct VerifyReport {
  std::vector<StepResult> steps;
  FewerBits fewer_bits = FewerBits::kWeights;
  OutputResult outputs;
  std::optional<GradientReport> gradients;

  // That of other programs, or inputs, without its gradients.
  void Add(const VerifyReport& other);
  // Returns whether all was compared that can be wrong.
  bool is_complete() const { return !gradients || gradients->is_complete(); }
};

// On stdout, as text or as JSON.
void PrintReport(const ReportStyle& style, const VerifyReport& report);

}  // namespace mxc
