// SPDX-License-Identifier: Apache-2.0
// The event files of a training: two runs for TensorBoard below one folder,
// "train" and "validation", whose scalars have the same names, so that it draws
// them into the same charts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/train/event_log.h"

namespace mxc::train {

class RunLog {
 public:
  static StatusOr<RunLog> Create(const std::string& folder);

  // "val/loss" is the loss of the validation, "train/loss" that of the training,
  // as is whatever has another name, or none of a group.
  void Write(int64_t step, const std::vector<Scalar>& scalars);
  // For what is no curve.
  EventLog& training() { return training_; }

  Status status() const;

 private:
  RunLog(std::string folder, EventLog training)
      : folder_(std::move(folder)), training_(std::move(training)) {}
  void WriteValidation(int64_t step, const std::vector<Scalar>& scalars);

  std::string folder_;
  EventLog training_;
  std::optional<EventLog> validation_;  // once there is something of it
  Status opened_;                       // whether it could be made
};

// Under the names of RunLog::Write. Steps after `last_step` are left out.
SeriesMap ReadRun(const std::string& folder, int64_t last_step);

// Scalars of a training that have a name of their own beside "train/…".
inline constexpr std::string_view kLearningRate = "learning_rate";
inline constexpr std::string_view kSpeed = "samples_per_s";
// The norm of all gradients together.
inline constexpr std::string_view kGradientNorm = "gradient_norm";
// Before a parameter's name: the norm of its gradient.
inline constexpr std::string_view kNormGroup = "norms/";

}  // namespace mxc::train
