// SPDX-License-Identifier: Apache-2.0
// What a process does as a worker or as a server of a job.
#pragma once

#include <memory>
#include <string>

#include "runtime/job/job.h"
#include "runtime/job/job_node.h"
#include "runtime/job/job_options.h"
#include "runtime/job/own_parts.h"
#include "runtime/job/status.h"
#include "runtime/train/step/artifact_step.h"
#include "runtime/train/step/stage_set.h"

namespace mxc::job {

// `stages`: one of a network that is not cut; else the job's workers.
// Updates the model's parameters until all workers have finished.
Status ServeJob(const Job& job, const JobOptions& options,
                const train::StageSet& stages);

class JobWorker {
 public:
  // `job`, `stages`, `step` and `own` must outlive it; the step is one of
  // gradients, or of whole steps in a job that averages, or in a pipeline. `own`:
  // what the step keeps of parameters where workers share them; else null.
  static StatusOr<std::unique_ptr<JobWorker>> Make(
      const Job& job, const JobOptions& options, const train::StageSet& stages,
      train::ArtifactStep& step, const OwnParts* own = nullptr);

  train::TrainStep& step() { return *distributed_; }
  // About how the job trains, to be told; empty: nothing.
  const std::string& remark() const { return remark_; }
  Status Finish() { return worker_->Finish(); }
  // The whole job ends, and why.
  void Abort(const std::string& sentence) { worker_->Abort(sentence); }

 private:
  explicit JobWorker(train::ArtifactKeys keys) : keys_(std::move(keys)) {}

  const train::ArtifactKeys keys_;
  train::ArtifactKeys updated_;  // where servers do not have all
  std::string remark_;
  std::unique_ptr<JobNode> node_;
  std::unique_ptr<kvstore::Worker> worker_;
  std::unique_ptr<train::TrainStep> distributed_;
};

}  // namespace mxc::job
