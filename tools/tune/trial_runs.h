// SPDX-License-Identifier: Apache-2.0
// TrialRuns, trained: each by the trainer of `mxc train`, in this process, from an
// artifact that all trials share which differ in nothing that is compiled.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "runtime/base/nameless_file.h"
#include "runtime/executor/model.h"
#include "runtime/fit/request.h"
#include "runtime/tune/search.h"
#include "tools/tune/trial_words.h"

namespace mxc {

struct TrialsOptions {
  std::string objective = "loss";
  std::string folder;  // of the trials' checkpoints
  int64_t epochs = 1;  // of a trial that is not stopped
  int threads = 1;     // of a trial, where the words do not say
  bool keeps = false;  // checkpoints of all trials
};

class TrialRuns : public tune::Trainee {
 public:
  // `interrupted`, set by a signal's handler, must outlive it.
  TrialRuns(TrialWords words, TrialsOptions options,
            const std::atomic<int>& interrupted)
      : words_(std::move(words)),
        options_(std::move(options)),
        interrupted_(interrupted) {}

  tune::Status Train(const tune::Task& task, const tune::Texts& parameters,
                     tune::Record& record) override;

  // Trains again, unless it was saved and no crash of the system has taken it,
  // what a trial had learned by its best epoch, which this is.
  tune::Status Restore(int64_t trial, int64_t epoch, tune::Record& record);
  // "….params" of a trial's best epoch, once it is restored.
  std::string ParametersOf(int64_t trial, int64_t epoch) const;
  // The prefix of a trial's checkpoints.
  std::string PrefixOf(int64_t trial) const;
  // How many were compiled; once nothing is trained any more.
  size_t artifacts() const { return artifacts_.size(); }
  // What trainings have warned of; of sentences that differ in numbers alone one.
  std::vector<std::string> warnings() const;

 private:
  class Reporter;
  struct Artifact {
    runtime::NamelessFile file;
    std::shared_ptr<const runtime::Model> model;
  };

  tune::Status RemoveUnrecorded(int64_t trial, const tune::Record& record);
  tune::StatusOr<std::shared_ptr<const runtime::Model>> ModelOf(
      const tune::Texts& parameters);
  Result<Artifact> Compile(const tune::Texts& parameters) const;
  // Whether all that a trial learns by the end of the task is learned again
  // sooner than checkpoints are worth.
  bool IsShort(const tune::Task& task, const tune::Record& record) const;
  tune::Status TrainTo(int64_t epochs, int64_t trial,
                       const tune::Texts& parameters, bool saves,
                       tune::Record& record);
  fit::Request RequestOf(int64_t trial, const tune::Texts& parameters,
                         bool saves) const;
  void Warn(const std::string& sentence);

  const TrialWords words_;
  const TrialsOptions options_;
  const std::atomic<int>& interrupted_;
  std::mutex compiling_;
  std::map<std::string, Artifact> artifacts_;  // by TrialWords::ArtifactOf
  std::mutex warning_;
  // By the sentence without its numbers.
  std::map<std::string, std::set<std::string>> warnings_;
};

}  // namespace mxc
