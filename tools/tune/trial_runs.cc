// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/trial_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/remote_files.h"
#include "runtime/fit/fit.h"
#include "runtime/train/best_epoch.h"
#include "runtime/train/checkpoint.h"
#include "tools/driver/temporary_file.h"
#include "tools/run/train_options.h"

namespace mxc {
namespace {

using tune::Task;
using tune::Texts;

std::vector<std::string> Reversed(std::vector<std::string> words) {
  std::ranges::reverse(words);
  return words;
}

tune::Status Failed(runtime::StatusCode code, const Diagnostics& errors) {
  std::string text;
  for (const Diagnostic& error : errors) {
    text += (text.empty() ? "" : "; ") + error.message;
  }
  return {code, text};
}

// "trial 3 (lr=0.01 batch-size=64): …"
tune::Status OfTrial(int64_t trial, const Texts& parameters,
                     const tune::Status& status) {
  return {status.code(), fmt::format("trial {} ({}): {}", trial,
                                     TextOf(parameters), status.message())};
}

}  // namespace

// Puts every epoch into the record, and ends training after so many.
class TrialRuns::Reporter : public train::Reporter {
 public:
  Reporter(TrialRuns& trials, int64_t trial, int64_t epochs,
           tune::Record& record)
      : trials_(trials), trial_(trial), epochs_(epochs), record_(record) {}

  const tune::Status& status() const { return status_; }
  bool done() const { return epoch_ >= epochs_; }

  bool WantsStep(int64_t) override { return false; }
  void OnStep(const train::Progress&) override {}
  void OnEpoch(const train::EpochSummary& summary) override {
    epoch_ = summary.epoch;
    const std::string& objective = trials_.options_.objective;
    const bool known =
        objective == "loss" ||
        std::ranges::count(summary.metrics, objective,
                           &train::MetricValues::value_type::first) > 0;
    if (!known) {
      status_ = {runtime::StatusCode::kInvalidArgument,
                 fmt::format("--objective '{}' is no metric of this training; "
                             "--metric names those that are computed",
                             objective)};
      return;
    }
    tune::EpochResult result{.value = train::ValueOf(summary, objective),
                             .loss = summary.loss,
                             .seconds = summary.seconds,
                             .metrics = summary.metrics,
                             .validation = {}};
    if (summary.validation) {
      result.validation = summary.validation->metrics;
      result.validation.insert(result.validation.begin(),
                               {"loss", summary.validation->loss});
    }
    status_ = record_.Add(trial_, summary.epoch, result);
  }
  bool AfterEpoch() override { return status_.ok() && !done(); }
  void Say(const std::string&) override {}
  void Warn(const std::string& sentence) override { trials_.Warn(sentence); }

 private:
  TrialRuns& trials_;
  const int64_t trial_, epochs_;
  tune::Record& record_;
  tune::Status status_;
  int64_t epoch_ = 0;
};

std::string TrialRuns::PrefixOf(int64_t trial) const {
  return fmt::format("{}/{:04}", options_.folder, trial);
}

void TrialRuns::Warn(const std::string& sentence) {
  std::string kind = sentence;
  std::erase_if(kind,
                [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
  const std::lock_guard lock(warning_);
  warnings_[kind].insert(sentence);
}

std::vector<std::string> TrialRuns::warnings() const {
  std::vector<std::string> told;
  for (const auto& [kind, sentences] : warnings_) {
    told.push_back(*sentences.begin());
    const size_t more = sentences.size() - 1;
    if (more > 0) told.back() += fmt::format(" (and {} more like it)", more);
  }
  return told;
}

Result<TrialRuns::Artifact> TrialRuns::Compile(const Texts& parameters) const {
  CLI::App app("", "tune");
  Training training(app);
  std::vector<std::string> words = words_.For(parameters);
  words.emplace_back("--quiet");
  app.parse(Reversed(std::move(words)));
  training.Settle();
  MXC_ASSIGN(runtime::NamelessFile file, MakeTemporaryFile());
  MXC_RETURN_IF_ERROR(training.CompileTo({file.path()}));
  auto model = runtime::Model::Open(file.path(), {});
  if (!model.ok()) return UnplacedError(model.status().message());
  return Artifact{std::move(file), std::move(*model)};
}

tune::StatusOr<std::shared_ptr<const runtime::Model>> TrialRuns::ModelOf(
    const Texts& parameters) {
  const std::lock_guard lock(compiling_);
  const std::string key = words_.ArtifactOf(parameters);
  const auto found = artifacts_.find(key);
  if (found != artifacts_.end()) return found->second.model;
  Result<Artifact> made = Compile(parameters);
  if (!made.ok()) {
    return Failed(runtime::StatusCode::kInvalidArgument, made.errors());
  }
  return artifacts_.emplace(key, std::move(*made)).first->second.model;
}

fit::Request TrialRuns::RequestOf(int64_t trial, const Texts& parameters,
                                  bool saves) const {
  const std::vector<std::string> words = words_.For(parameters);
  CLI::App asked("", "tune");
  Training training(asked);
  asked.parse(Reversed(words));
  CLI::App app("", "tune");
  run::TrainOptions options;
  run::Reporting reporting;
  run::DeclareTrain(app, options, reporting);
  std::vector<std::string> shared = WordsForRun(asked, training.loop());
  shared.insert(shared.begin(), "artifact");
  app.parse(Reversed(std::move(shared)));
  fit::Request request = std::move(options.request);
  request.trainer.epochs = options_.epochs;
  if (saves) {
    request.trainer.save = PrefixOf(trial);
    request.trainer.resume = true;
    request.trainer.keep.epochs = 1;
    // What a crash of the system leaves of it is removed, and trained again.
    request.trainer.sync = train::Sync::kNo;
    request.trainer.overwrite = true;
  }
  request.trainer.interrupted = &interrupted_;
  if (request.trainer.early_stop.empty()) {  // which epoch is the best one
    request.trainer.early_stop = fmt::format(
        "patience={},metric={}", options_.epochs + 1, options_.objective);
  }
  if (request.threads == 0) request.threads = options_.threads;
  const NetworkRequest& network = training.options().request.request.network;
  if (words_.searches_seed() && network.params.empty()) {
    request.init = network.init;
  }
  return request;
}

// A crash of the system may have taken lines of the record, and left what was
// learned later: the trial begins again, so that every epoch has its line.
tune::Status TrialRuns::RemoveUnrecorded(int64_t trial,
                                         const tune::Record& record) {
  const auto known = record.trial(trial).epochs;
  int64_t epochs = 0;
  while (known.contains(epochs + 1)) ++epochs;
  MXC_RT_ASSIGN(const auto sets, train::AllSetsOf(PrefixOf(trial)));
  const bool ahead = std::ranges::any_of(sets, [&](const auto& set) {
    return set.prefix == PrefixOf(trial) && set.number > epochs;
  });
  return ahead ? train::RemoveSets(sets) : tune::Status();
}

tune::Status TrialRuns::Restore(int64_t trial, int64_t epoch,
                                tune::Record& record) {
  const train::Provenance found =
      train::ProvenanceOf(ParametersOf(trial, epoch));
  if (found.known && found.problem.empty() && found.epoch == epoch) return {};
  MXC_RT_ASSIGN(const auto sets, train::AllSetsOf(PrefixOf(trial)));
  MXC_RT_RETURN_IF_ERROR(train::RemoveSets(sets));
  return TrainTo(epoch, trial, record.trial(trial).parameters, true, record);
}

std::string TrialRuns::ParametersOf(int64_t trial, int64_t epoch) const {
  const std::string prefix = PrefixOf(trial);
  const std::string last = train::EpochCheckpoint(prefix, epoch).Path("params");
  const auto there = runtime::FileExists(last);
  return there.ok() && *there ? last : train::BestPath(prefix, "params");
}

bool TrialRuns::IsShort(const Task& task, const tune::Record& record) const {
  constexpr double kSeconds = 1;
  if (options_.keeps) return false;
  const tune::TrialRecord known =
      record.trial(task.from > 0 ? task.trial : task.trial - 1);
  if (known.epochs.empty()) return false;
  return known.epochs.rbegin()->second.seconds * static_cast<double>(task.to) <
         kSeconds;
}

tune::Status TrialRuns::Train(const Task& task, const Texts& parameters,
                              tune::Record& record) {
  MXC_RT_RETURN_IF_ERROR(RemoveUnrecorded(task.trial, record));
  return TrainTo(task.to, task.trial, parameters, !IsShort(task, record),
                 record);
}

tune::Status TrialRuns::TrainTo(int64_t epochs, int64_t trial,
                                const Texts& parameters, bool saves,
                                tune::Record& record) {
  auto model = ModelOf(parameters);
  if (!model.ok()) return OfTrial(trial, parameters, model.status());
  auto opened = fit::Fit::Open({.model = std::move(*model), .path = ""},
                               RequestOf(trial, parameters, saves));
  if (!opened.ok()) return OfTrial(trial, parameters, opened.status());
  fit::Fit& training = **opened;
  Reporter reporter(*this, trial, epochs, record);
  const auto result = training.Run(reporter);
  if (training.diverged()) {
    return record.End(trial, "failed: " + result.status().message());
  }
  if (!result.ok()) return OfTrial(trial, parameters, result.status());
  MXC_RT_RETURN_IF_ERROR(reporter.status());
  if (result->interrupted || reporter.done()) return {};
  return record.End(trial, "stopped early");
}

}  // namespace mxc
