// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/run_log.h"

#include <string_view>
#include <utility>

namespace mxc::train {
namespace {

constexpr std::string_view kTraining = "train/", kValidation = "val/";

std::string TrainingFolder(const std::string& folder) {
  return folder + "/train";
}

std::string ValidationFolder(const std::string& folder) {
  return folder + "/validation";
}

bool HasOwnName(std::string_view tag) {
  return tag == kLearningRate || tag == kSpeed || tag == kGradientNorm ||
         tag.find('/') != tag.npos;
}

}  // namespace

StatusOr<RunLog> RunLog::Create(const std::string& folder) {
  StatusOr<EventLog> training = EventLog::Create(TrainingFolder(folder));
  if (!training.ok()) return training.status();
  return RunLog(folder, std::move(*training));
}

void RunLog::Write(int64_t step, const std::vector<Scalar>& scalars) {
  std::vector<Scalar> training, validation;
  for (auto [tag, value] : scalars) {
    const bool validated = tag.starts_with(kValidation);
    for (const std::string_view group : {kTraining, kValidation}) {
      if (tag.starts_with(group)) tag.remove_prefix(group.size());
    }
    (validated ? validation : training).emplace_back(tag, value);
  }
  if (!training.empty()) training_.Write(step, training);
  if (!validation.empty()) WriteValidation(step, validation);
}

void RunLog::WriteValidation(int64_t step, const std::vector<Scalar>& scalars) {
  if (!opened_.ok()) return;
  if (!validation_) {
    StatusOr<EventLog> log = EventLog::Create(ValidationFolder(folder_));
    opened_ = log.status();
    if (!log.ok()) return;
    validation_.emplace(std::move(*log));
  }
  validation_->Write(step, scalars);
}

Status RunLog::status() const {
  MXC_RT_RETURN_IF_ERROR(training_.status());
  MXC_RT_RETURN_IF_ERROR(opened_);
  return validation_ ? validation_->status() : Status();
}

SeriesMap ReadRun(const std::string& folder, int64_t last_step) {
  SeriesMap all;
  for (auto& [tag, points] : ReadEvents(TrainingFolder(folder), last_step)) {
    const std::string name =
        HasOwnName(tag) ? tag : std::string(kTraining) + tag;
    all[name] = points;
  }
  for (auto& [tag, points] : ReadEvents(ValidationFolder(folder), last_step)) {
    all[std::string(kValidation) + tag] = points;
  }
  return all;
}

}  // namespace mxc::train
