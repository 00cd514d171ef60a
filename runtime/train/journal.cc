// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/journal.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/train/epoch_table.h"
#include "runtime/train/run_settings.h"

namespace mxc::train {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPageEvery = 5'000'000'000;  // ns
constexpr size_t kMostOthers = 4;
constexpr int kMostLookedAt = 1000;  // entries of a folder

// Folders beside this one in which training left a page, the latest ones.
std::vector<fs::path> RunsBeside(const fs::path& folder) {
  std::error_code error;
  const fs::path own = fs::weakly_canonical(folder, error);
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  int looked_at = 0;
  for (fs::directory_iterator it(own.parent_path(), error), end;
       !error && it != end && looked_at < kMostLookedAt; it.increment(error)) {
    ++looked_at;
    const fs::path page = it->path() / "report.html";
    std::error_code ignored;
    if (it->path() == own || !fs::is_regular_file(page, ignored)) continue;
    found.emplace_back(fs::last_write_time(page, ignored), it->path());
  }
  std::ranges::sort(found);
  std::vector<fs::path> runs;
  for (size_t i = found.size() - std::min(found.size(), kMostOthers);
       i < found.size(); ++i) {
    runs.push_back(found[i].second);
  }
  return runs;
}

}  // namespace

StatusOr<Journal> Journal::Open(const std::string& folder, int64_t resumed_step,
                                Report report, bool norms) {
  if (resumed_step > 0) report.series = ReadRun(folder, resumed_step);
  StatusOr<RunLog> log = RunLog::Create(folder);
  if (!log.ok()) return log.status();
  for (const fs::path& run : RunsBeside(folder)) {
    SeriesMap series = ReadRun(run, std::numeric_limits<int64_t>::max());
    if (!series.empty()) {
      report.others.emplace_back(run.filename(), std::move(series));
    }
  }
  report.live = true;
  StatusOr<EventLog> table =
      EventLog::Create(folder + "/" + std::string(kSettingsPlugin));
  if (!table.ok()) return table.status();
  table->WritePlugin(kSessionStart, kSettingsPlugin,
                     SessionStartMessage(report.settings, WallTime()));
  return Journal(folder, std::move(*log), std::move(*table), std::move(report),
                 norms);
}

void Journal::Write(int64_t step, const std::vector<Scalar>& scalars) {
  const double now = WallTime();
  for (const auto& [tag, value] : scalars) {
    report_.series[std::string(tag)].push_back({step, value, now});
  }
  log_.Write(step, scalars);
}

void Journal::OnStep(const Progress& p) {
  Write(p.step, {{"train/loss", p.loss},
                 {kLearningRate, p.learning_rate},
                 {kSpeed, p.samples_per_s}});
  WritePageIfDue();
}

// That a page could not be written is told at the end.
void Journal::WritePageIfDue() {
  const int64_t now = runtime::Nanoseconds();
  if (page_written_ != 0 && now - page_written_ < kPageEvery) return;
  page_written_ = now;
  (void)WritePage().ok();
}

void Journal::OnEpoch(const EpochSummary& s) {
  std::vector<std::pair<std::string, double>> figures;
  const auto add = [&](std::string_view group, std::string_view name,
                       double value) {
    figures.emplace_back(std::string(group).append(name), value);
  };
  add(kEpochGroup, "epoch", static_cast<double>(s.epoch));
  add(kEpochGroup, "loss", s.loss);
  add(kEpochGroup, "learning_rate", s.learning_rate);
  add(kEpochGroup, "samples_per_s", s.samples_per_s);
  add(kEpochGroup, "seconds", s.seconds);
  for (const auto& [name, value] : s.metrics) add("train/", name, value);
  if (s.validation) {
    for (const auto& [name, value] : s.validation->metrics) {
      add("val/", name, value);
    }
    add("val/", "loss", s.validation->loss);
  }
  Write(s.step, {figures.begin(), figures.end()});
  WriteResults(s);
  WritePageIfDue();
}

// The last ones stand in the table.
void Journal::WriteResults(const EpochSummary& s) {
  std::vector<std::pair<std::string, double>> results = {{"loss", s.loss}};
  for (const auto& [name, value] : s.metrics) results.emplace_back(name, value);
  if (s.validation) {
    results.emplace_back("val_loss", s.validation->loss);
    for (const auto& [name, value] : s.validation->metrics) {
      results.emplace_back("val_" + name, value);
    }
  }
  for (auto& [name, value] : results) name.insert(0, "final/");
  table_.Write(s.step, std::vector<Scalar>(results.begin(), results.end()));
}

void Journal::OnClasses(ValidatedClasses classes, bool best) {
  report_.last_classes.reset();
  (best ? report_.best_classes : report_.last_classes) = std::move(classes);
}

void Journal::OnGradients(int64_t step, std::span<const std::string> parameters,
                          std::span<const float> norms) {
  std::vector<std::pair<std::string, double>> known;
  double squares = 0;
  for (size_t k = 0; k < std::min(parameters.size(), norms.size()); ++k) {
    const auto norm = static_cast<double>(norms[k]);
    if (!std::isfinite(norm)) continue;
    known.emplace_back(parameters[k], norm);
    squares += norm * norm;
  }
  if (known.empty()) return;
  Write(step, {{kGradientNorm, std::sqrt(squares)}});
  report_.gradients = known;
  report_.gradients_step = step;
  if (!norms_) return;
  for (auto& [tag, norm] : known) tag.insert(0, kNormGroup);
  log_.Write(step, std::vector<Scalar>(known.begin(), known.end()));
}

void Journal::OnWeights(int64_t step, const std::string& parameter,
                        std::span<const float> values) {
  log_.training().WriteHistogram(step, "weights/" + parameter,
                                 HistogramOf(values));
}

Status Journal::Close(bool failed) {
  table_.WritePlugin(kSessionEnd, kSettingsPlugin,
                     SessionEndMessage(failed, WallTime()));
  MXC_RT_RETURN_IF_ERROR(log_.status());
  MXC_RT_RETURN_IF_ERROR(table_.status());
  report_.live = false;
  return WritePage();
}

Status Journal::WritePage() const {
  return WriteReport(folder_ + "/report.html", report_);
}

}  // namespace mxc::train
