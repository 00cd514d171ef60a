// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/journal.h"

namespace mxc::train {

StatusOr<Journal> Journal::Open(const std::string& folder, int64_t resumed_step,
                                Report report) {
  if (resumed_step > 0) report.series = ReadEvents(folder, resumed_step);
  StatusOr<EventLog> log = EventLog::Create(folder);
  if (!log.ok()) return log.status();
  return Journal(folder, std::move(*log), std::move(report));
}

void Journal::Write(int64_t step, const std::vector<Scalar>& scalars) {
  for (const auto& [tag, value] : scalars) {
    report_.series[std::string(tag)].push_back({step, value});
  }
  log_.Write(step, scalars);
}

void Journal::OnStep(const Progress& p) {
  Write(p.step, {{"train/loss", p.loss},
                 {"learning_rate", p.learning_rate},
                 {"samples_per_s", p.samples_per_s}});
}

void Journal::OnEpoch(const EpochSummary& s) {
  std::vector<std::string> tags;
  std::vector<double> values;
  const auto add = [&](const char* group, const MetricValues& metrics) {
    for (const auto& [name, value] : metrics) {
      tags.push_back(std::string(group) + name);
      values.push_back(value);
    }
  };
  add("train/", s.metrics);
  if (s.validation) {
    add("val/", s.validation->metrics);
    tags.push_back("val/loss");
    values.push_back(s.validation->loss);
  }
  std::vector<Scalar> scalars;
  for (size_t i = 0; i < tags.size(); ++i) {
    scalars.emplace_back(tags[i], values[i]);
  }
  Write(s.step, scalars);
  (void)WritePage().ok();
}

Status Journal::Close() {
  MXC_RT_RETURN_IF_ERROR(log_.status());
  return WritePage();
}

Status Journal::WritePage() const {
  return WriteReport(folder_ + "/report.html", report_);
}

}  // namespace mxc::train
