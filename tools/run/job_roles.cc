// SPDX-License-Identifier: Apache-2.0
#include "tools/run/job_roles.h"

#include <signal.h>

#include "tools/run/all_reduce_step.h"
#include "tools/run/artifact_shelf.h"
#include "tools/run/averaging_step.h"
#include "tools/run/failure.h"

namespace mxc::run {
namespace {

ArtifactKeys JobKeys(const Job& job, const JobOptions& options,
                     const runtime::Model& model) {
  using Rule = kvstore::Averaging::Rule;
  const auto rule = kvstore::ParseRule(options.kvstore);
  ArtifactKeys keys = Take(
      rule ? ParametersOf(model, rule == Rule::kBlockMomentum) : KeysOf(model));
  if (keys.loss_scale && !options.reduces()) {
    throw Failure(
        "the network trains in f16, where one gradient that is not finite "
        "stops "
        "all updates, and servers make each one when its gradients are there; "
        "take --kvstore allreduce, or --precision bf16");
  }
  if (options.reduces()) kvstore::AddMeshKeys(keys.table, job.workers);
  if (options.leaving() == Leaving::kUrgent) return keys;
  for (kvstore::KeySpec& key : keys.table) key.priority = 0;
  return keys;
}

// What all nodes agree about beside the keys.
std::string PlanOf(const JobOptions& options, const runtime::Model& model) {
  std::string plan = options.reduces() ? TextOf(BucketsOf(model)) : "";
  if (options.accumulate > 1) {
    plan += "accumulate=" + std::to_string(options.accumulate);
  }
  return plan;
}

}  // namespace

void ServeJob(Job job, const JobOptions& options, const std::string& artifact,
              const runtime::OpenOptions& open) {
  signal(SIGINT, SIG_IGN);  // it is for the workers, which finish
  const auto model = Take(runtime::Model::Open(artifact, open));
  const ArtifactKeys keys = JobKeys(job, options, *model);
  const JobNode node(job, options, keys, PlanOf(options, *model));
  if (options.reduces()) {
    job.journal.clear();  // workers have all values
    return node.Serve(
        [&] { return std::make_unique<kvstore::PlainShelf>(keys.table); });
  }
  node.Serve([&]() -> std::unique_ptr<kvstore::Shelf> {
    if (!options.averages()) return Take(ArtifactShelf::Make(model, keys));
    return kvstore::MakeAveragingShelf(keys.table, node.averaging());
  });
}

JobWorker::JobWorker(const Job& job, const JobOptions& options,
                     ArtifactStep& step)
    : keys_(JobKeys(job, options, *step.model())),
      node_(job, options, keys_, PlanOf(options, *step.model())),
      worker_(node_.MakeWorker()) {
  if (options.averages()) {
    distributed_ = std::make_unique<AveragingStep>(step, keys_, *worker_,
                                                   job.rank, node_.averaging());
  } else if (options.reduces()) {
    distributed_ = std::make_unique<AllReduceStep>(
        step, keys_, *worker_, job.rank, job.workers,
        [this] { return node_.MakeMesh(*worker_); });
  } else {
    distributed_ = std::make_unique<DistributedStep>(
        step, keys_, *worker_, job.rank,
        options.leaving() != Leaving::kAfterStep, options.accumulate);
  }
}

void JobWorker::Finish() { Require(worker_->Finish()); }

}  // namespace mxc::run
