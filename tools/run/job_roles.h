// SPDX-License-Identifier: Apache-2.0
// What a process does as a worker or as a server of a job. All throw Failures.
#pragma once

#include <memory>
#include <string>

#include "tools/run/distributed_step.h"
#include "tools/run/job.h"
#include "tools/run/samples.h"

namespace mxc::run {

// Updates the artifact's parameters until all workers have finished.
void ServeJob(Job job, const JobOptions& options, const std::string& artifact,
              const runtime::OpenOptions& open);

class JobWorker {
 public:
  // `step` must outlive it; it is one of gradients, or of whole steps in a job
  // that averages.
  JobWorker(const Job& job, const JobOptions& options, ArtifactStep& step);

  train::TrainStep& step() { return *distributed_; }
  void Finish();
  // The whole job ends, and why.
  void Abort(const std::string& sentence) { worker_->Abort(sentence); }

 private:
  const ArtifactKeys keys_;
  const JobNode node_;
  std::unique_ptr<kvstore::Worker> worker_;
  std::unique_ptr<train::TrainStep> distributed_;
};

}  // namespace mxc::run
