// SPDX-License-Identifier: Apache-2.0
// A training as it was asked for: a compiled network, samples, one process or
// one of a job's, on one device or several.
//
//   MXC_RT_ASSIGN(auto fit, Fit::Open({.model = model}, request));
//   MXC_RT_ASSIGN(const train::TrainResult result, fit->Run(reporter));
//
// Used by one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/data/iterator.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/model.h"
#include "runtime/fit/request.h"
#include "runtime/fit/status.h"
#include "runtime/job/job_roles.h"
#include "runtime/job/server_beside.h"
#include "runtime/train/progress.h"
#include "runtime/train/step/accumulating_step.h"
#include "runtime/train/step/artifact_step.h"
#include "runtime/train/step/group_step.h"
#include "runtime/train/step/stage_set.h"
#include "runtime/train/step/staged_step.h"
#include "runtime/train/trainer.h"

namespace mxc::fit {

// What is trained.
struct Given {
  std::shared_ptr<const runtime::Model> model;
  std::string path;  // of its file, for messages; empty: it has none
  // Whose states training changes, of the same model on the same device; it
  // must outlive the fit, and runs by turns with it. Null: states of the fit's
  // own.
  const runtime::Executor* share = nullptr;
  // Of a pipeline the stages behind the model's, which is the first; empty: the
  // network is whole.
  train::Models later = {};
};

class Fit {
 public:
  // Finds in the environment whether this process is one of a job (job.h);
  // worker 0 of a job that has no server forks one.
  static StatusOr<std::unique_ptr<Fit>> Open(Given given, Request request);
  ~Fit();
  Fit(const Fit&) = delete;

  bool in_job() const { return job_.has_value(); }
  // Returns whether this process is a job's server: Run serves until all
  // workers have finished, and nothing is trained here.
  bool serves() const { return job_ && job_->serves; }
  // Returns whether it speaks for all: alone, or as worker 0. Of another worker
  // warnings alone are worth telling.
  bool speaks() const { return !job_ || (!job_->serves && job_->rank == 0); }

  // Trains, once.
  StatusOr<train::TrainResult> Run(train::Reporter& reporter);
  // Null in a server.
  train::TrainStep* step() const { return trained_; }
  // Returns whether Run has failed for a loss that was not finite.
  bool diverged() const { return trainer_ && trainer_->diverged(); }
  // The averages that the request's `ema` keeps (ema_step.h), after Run; null:
  // there are none.
  train::EmaStep* averages() const {
    return trainer_ ? trainer_->averages() : nullptr;
  }

 private:
  Fit(Given given, Request request)
      : given_(std::move(given)), request_(std::move(request)) {}

  Status OpenJob();
  Status OpenStep();
  Status CutParameters();
  Status OpenGroup();
  Status ReadStages();
  Status OpenStages();
  Status OpenPipeline();
  Status OpenSamples();
  void LeaveToFirst();
  void Follow();
  Status SettleTrainer();
  Status CheckOutputs() const;
  Status OpenValidation();
  StatusOr<train::TrainResult> Train(train::Reporter& reporter);
  StatusOr<train::TrainResult> RunLoop();

  const Given given_;
  Request request_;
  std::optional<train::StageSet> stages_;  // one, where the network is whole
  std::optional<job::Job> job_;
  std::unique_ptr<job::ServerBeside> server_;
  std::optional<job::OwnParts> own_;  // where workers share parameters
  std::unique_ptr<train::ArtifactStep> step_;
  std::unique_ptr<train::GroupStep> group_;
  std::unique_ptr<train::StagedStep> staged_;
  std::unique_ptr<train::AccumulatingStep> accumulating_;
  std::unique_ptr<job::JobWorker> worker_;
  train::TrainStep* trained_ = nullptr;  // one of those
  std::unique_ptr<data::Iterator> samples_, validation_;
  std::optional<train::Trainer> trainer_;
};

}  // namespace mxc::fit
