// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/train/event_reporter.h"

#include <vector>

namespace mxc::fit {
namespace {

// As long as `values` lives.
std::vector<mxc_metric> ToC(const train::MetricValues& values) {
  std::vector<mxc_metric> metrics;
  for (const auto& [name, value] : values) {
    metrics.push_back({name.c_str(), value});
  }
  return metrics;
}

}  // namespace

bool EventReporter::WantsStep(int64_t step) {
  return speaks_ && events_.wants_step != nullptr &&
         events_.on_step != nullptr &&
         events_.wants_step(events_.user_data, step) != 0;
}

void EventReporter::OnStep(const train::Progress& progress) {
  const std::vector<mxc_metric> metrics = ToC(progress.metrics);
  const mxc_step_report report = {.struct_size = sizeof(mxc_step_report),
                                  .step = progress.step,
                                  .epoch = progress.epoch,
                                  .epochs = progress.epochs,
                                  .batch = progress.batch,
                                  .batches = progress.batches,
                                  .loss = progress.loss,
                                  .learning_rate = progress.learning_rate,
                                  .samples_per_second = progress.samples_per_s,
                                  .seconds_left = progress.seconds_left,
                                  .metrics = metrics.data(),
                                  .metric_count = metrics.size()};
  events_.on_step(events_.user_data, &report);
}

void EventReporter::OnEpoch(const train::EpochSummary& summary) {
  epoch_ = summary;
}

bool EventReporter::AfterEpoch() {
  if (!speaks_ || events_.on_epoch == nullptr) return true;
  const train::EpochSummary& summary = epoch_;
  const std::vector<mxc_metric> metrics = ToC(summary.metrics);
  mxc_epoch_report report = {.struct_size = sizeof(mxc_epoch_report),
                             .step = summary.step,
                             .epoch = summary.epoch,
                             .epochs = summary.epochs,
                             .loss = summary.loss,
                             .learning_rate = summary.learning_rate,
                             .samples_per_second = summary.samples_per_s,
                             .seconds = summary.seconds,
                             .metrics = metrics.data(),
                             .metric_count = metrics.size(),
                             .validated = summary.validation.has_value(),
                             .validation_loss = 0,
                             .validation_metrics = nullptr,
                             .validation_metric_count = 0};
  std::vector<mxc_metric> validated;
  if (summary.validation) {
    validated = ToC(summary.validation->metrics);
    report.validation_loss = summary.validation->loss;
    report.validation_metrics = validated.data();
    report.validation_metric_count = validated.size();
  }
  return events_.on_epoch(events_.user_data, &report) == 0;
}

void EventReporter::Say(const std::string& sentence) {
  if (!speaks_ || events_.say == nullptr) return;
  events_.say(events_.user_data, sentence.c_str(), 0);
}

void EventReporter::Warn(const std::string& sentence) {
  if (events_.say == nullptr) return;
  events_.say(events_.user_data, sentence.c_str(), 1);
}

}  // namespace mxc::fit
