// SPDX-License-Identifier: Apache-2.0
// What a person or a script sees of a training run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/train/score.h"

namespace mxc::train {

// After a step.
struct Progress {
  int64_t step = 0;                // updates made in all
  int64_t epoch = 0, epochs = 0;   // the current one, from 1
  int64_t batch = 0, batches = 0;  // within the epoch, done
  double loss = 0;                 // the mean since the last report
  MetricValues metrics;            // of the epoch so far
  double learning_rate = 0;
  double samples_per_s = 0;
  double seconds_left = 0;  // to the end of the last epoch
};

// After an epoch.
struct EpochSummary {
  int64_t step = 0, epoch = 0, epochs = 0;
  double loss = 0;  // the mean of the epoch
  MetricValues metrics;
  double learning_rate = 0;
  double samples_per_s = 0;
  double seconds = 0;
  struct Validation {
    double loss = 0;
    MetricValues metrics;
  };
  std::optional<Validation> validation;
};

class Reporter {
 public:
  virtual ~Reporter() = default;

  // Returns whether OnStep is to be called after this step; asked once for
  // each.
  virtual bool WantsStep(int64_t step) = 0;
  virtual void OnStep(const Progress& progress) = 0;
  virtual void OnEpoch(const EpochSummary& summary) = 0;
  // Once the epoch that OnEpoch told is saved: whether training goes on; else
  // it ends as if that were the last one. Meanwhile the step's states may be
  // read and written elsewhere (TrainStep::LendStates).
  virtual bool AfterEpoch() { return true; }
  // A sentence: "resumed from …".
  virtual void Say(const std::string& sentence) = 0;
  // What may be wrong. Every style tells it; JSON repeats it in "warnings" of
  // the next object.
  virtual void Warn(const std::string& sentence) {
    Say("warning: " + sentence);
  }
};

enum class ReportStyle {
  kBar,     // a bar that is redrawn ten times a second, for terminals
  kLines,   // a line for each epoch
  kJson,    // an object a line, after every `every` steps and every epoch
  kSilent,  // warnings alone
};

// Writes to `out`, which must outlive the reporter: stdout for JSON, where
// sentences go to stderr, else stderr.
std::unique_ptr<Reporter> MakeReporter(ReportStyle style, int64_t every,
                                       std::FILE* out);

// "3:07", "1:02:45"
std::string ClockTime(double seconds);
// JSON strings; a JSON number, null where it is not finite.
std::string JsonTexts(const std::vector<std::string>& texts);
std::string JsonNumber(double value);
std::string JsonMetrics(const MetricValues& metrics);

}  // namespace mxc::train
