// SPDX-License-Identifier: Apache-2.0
// Which epoch was the best, and whether training still gets better.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/train/progress.h"
#include "runtime/train/status.h"

namespace mxc::train {

// When to stop: after `patience` epochs in a row none of which was better than
// the best by more than min_delta.
struct StopRule {
  int64_t patience = 0;  // 0: never
  std::string metric = "loss";
  double min_delta = 0;
};

// "patience=5", "patience=5,metric=accuracy,min_delta=0.001"; nothing in an empty
// text.
StatusOr<StopRule> ParseStopRule(std::string_view text);

// Returns whether less of a metric is better: of losses and errors. More is of
// shares and correlations.
bool LessIsBetter(std::string_view metric);

// What the epoch has of "loss" or a metric, of its validation where there is one;
// NaN where it has none.
double ValueOf(const EpochSummary& summary, const std::string& metric);

// The values are of the validation where there is one. More is better of shares
// and correlations, less of losses and errors; what is no number never is.
class BestEpoch {
 public:
  explicit BestEpoch(StopRule rule = {}) : rule_(std::move(rule)) {}

  // Refuses a metric that is not among the epoch's.
  Status Look(const EpochSummary& summary);

  int64_t epoch() const { return epoch_; }  // 0: there was none yet
  bool Stops() const { return rule_.patience > 0 && since_ >= rule_.patience; }
  // "epoch 7 was the best: loss 0.31 in validation"
  std::string Sentence() const;

  // What of a rule decides which epoch is better than which: State is for
  // another rule that has the same.
  static std::string Measure(const StopRule& rule) { return rule.metric; }
  // Patience begins anew, as under another rule.
  void ForgetPatience() { since_ = 0; }

  std::vector<double> State() const;
  // False, and nothing changes, where `state` is none.
  bool Restore(std::span<const double> state);

 private:
  bool IsBetter(double value) const;

  const StopRule rule_;
  int64_t epoch_ = 0, since_ = 0;
  double value_ = 0;
  bool validated_ = false;
};

}  // namespace mxc::train
