// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/job_roles.h"

#include <signal.h>

#include <utility>

#include "runtime/job/all_reduce_step.h"
#include "runtime/job/averaging_step.h"
#include "runtime/job/distributed_step.h"
#include "runtime/job/pipeline_step.h"
#include "runtime/train/step/artifact_shelf.h"
#include "runtime/train/step/buckets.h"

namespace mxc::job {

using train::ArtifactKeys;

namespace {

StatusOr<ArtifactKeys> JobKeys(const Job& job, const JobOptions& options,
                               const runtime::Model& model) {
  using Rule = kvstore::Averaging::Rule;
  if (options.pipeline) {
    ArtifactKeys keys = ArtifactKeys::OfPositionAlone();
    kvstore::AddMeshKeys(keys.table, job.workers);
    return keys;
  }
  const auto rule = kvstore::ParseRule(options.kvstore);
  auto keys = rule ? train::ParametersOf(model, rule == Rule::kBlockMomentum)
                   : train::KeysOf(model);
  if (!keys.ok()) return keys;
  if (keys->loss_scale && !options.reduces()) {
    return Fail(
        StatusCode::kUnsupported,
        "the network trains in f16, where one gradient that is not finite "
        "stops all updates, and servers make each one when its gradients are "
        "there; take --kvstore allreduce, or --precision bf16");
  }
  if (options.reduces()) kvstore::AddMeshKeys(keys->table, job.workers);
  if (options.leaving() == Leaving::kUrgent) return keys;
  for (kvstore::KeySpec& key : keys->table) key.priority = 0;
  return keys;
}

// What all nodes agree about beside the keys.
std::string PlanOf(const JobOptions& options, const train::StageSet& stages) {
  if (options.pipeline) return "stages " + stages.cut();
  const runtime::Model& model = *stages.models().front();
  std::string plan =
      options.reduces() ? train::TextOf(train::BucketsOf(model)) : "";
  if (options.accumulate > 1) {
    plan += "accumulate=" + std::to_string(options.accumulate);
  }
  return plan;
}

}  // namespace

Status ServeJob(const Job& given, const JobOptions& options,
                const train::StageSet& stages) {
  signal(SIGINT, SIG_IGN);  // it is for the workers, which finish
  Job job = given;
  if (options.meshes()) job.journal.clear();  // workers have all values
  const std::shared_ptr<const runtime::Model>& model = stages.models().front();
  MXC_RT_ASSIGN(const ArtifactKeys keys, JobKeys(job, options, *model));
  MXC_RT_ASSIGN(const auto node,
                JobNode::Make(job, options, keys, PlanOf(options, stages)));
  return node->Serve([&]() -> StatusOr<std::unique_ptr<kvstore::Shelf>> {
    if (options.meshes()) {
      return std::unique_ptr<kvstore::Shelf>(
          std::make_unique<kvstore::PlainShelf>(keys.table));
    }
    if (options.averages()) {
      return std::unique_ptr<kvstore::Shelf>(
          kvstore::MakeAveragingShelf(keys.table, node->averaging()));
    }
    MXC_RT_ASSIGN(auto shelf, train::ArtifactShelf::Make(model, keys));
    return std::unique_ptr<kvstore::Shelf>(std::move(shelf));
  });
}

StatusOr<std::unique_ptr<JobWorker>> JobWorker::Make(
    const Job& job, const JobOptions& options, const train::StageSet& stages,
    train::ArtifactStep& step) {
  MXC_RT_ASSIGN(ArtifactKeys keys, JobKeys(job, options, *step.model()));
  std::unique_ptr<JobWorker> made(new JobWorker(std::move(keys)));
  MXC_RT_ASSIGN(made->node_, JobNode::Make(job, options, made->keys_,
                                           PlanOf(options, stages)));
  const JobNode& node = *made->node_;
  made->worker_ = node.MakeWorker();
  kvstore::Worker& worker = *made->worker_;
  if (options.pipeline) {
    const uint64_t most_early =
        kvstore::kMostEarly + stages.ReceivedBytes(job.rank);
    made->distributed_ = std::make_unique<PipelineStep>(
        step, stages, made->keys_, worker, job.rank,
        [&node, &worker, most_early] {
          return node.MakeMesh(worker, most_early);
        });
  } else if (options.averages()) {
    made->distributed_ = std::make_unique<AveragingStep>(
        step, made->keys_, worker, job.rank, node.averaging());
  } else if (options.reduces()) {
    made->distributed_ = std::make_unique<AllReduceStep>(
        step, made->keys_, worker, job.rank, job.workers,
        [&node, &worker] { return node.MakeMesh(worker); });
  } else {
    made->distributed_ = std::make_unique<DistributedStep>(
        step, made->keys_, worker, job.rank,
        options.leaving() != Leaving::kAfterStep, options.accumulate);
  }
  return made;
}

}  // namespace mxc::job
