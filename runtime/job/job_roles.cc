// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/job_roles.h"

#include <signal.h>

#include <utility>

#include "runtime/artifact/manifest.h"
#include "runtime/job/all_reduce_step.h"
#include "runtime/job/averaging_step.h"
#include "runtime/job/distributed_step.h"
#include "runtime/job/pipeline_step.h"
#include "runtime/job/sharded_step.h"
#include "runtime/train/step/artifact_shelf.h"
#include "runtime/train/step/buckets.h"
#include "runtime/train/step/state_shares.h"

namespace mxc::job {

using runtime::Format;
using train::ArtifactKeys;

namespace {

train::Kept KeptByServers(const JobOptions& options) {
  if (options.shards_parameters) return train::Kept::kNothing;
  return options.shards_states ? train::Kept::kParameters : train::Kept::kAll;
}

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
                   : train::KeysOf(model.tables(), KeptByServers(options));
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
  if (options.shards_states) {
    plan += Format(" states%s cut from %llu",
                   options.shards_parameters ? " and parameters" : "",
                   static_cast<unsigned long long>(options.cut_from));
  }
  if (options.accumulate > 1) {
    plan += "accumulate=" + std::to_string(options.accumulate);
  }
  return plan;
}

// Of "aarch64@x86-64-v4", what stands behind the sign; empty: the code adds in the
// order of its own processor.
std::string OrderOf(const train::StageSet& stages) {
  const auto target =
      runtime::ManifestValues(stages.models().front()->manifest(), "target");
  if (target.empty()) return "";
  const size_t mark = target.front().find('@');
  return mark == std::string::npos ? "" : target.front().substr(mark + 1);
}

// What the workers' memory has of what they share.
std::string RemarkOf(const train::StateShares& shares, uint32_t workers,
                     bool parameters) {
  const auto mega = [](uint64_t bytes) {
    return static_cast<double>(bytes) / 1e6;
  };
  const train::StateShares::Bytes kept = shares.OfOptimizer();
  std::string text = Format(
      "of %.1f MB that the optimizer keeps, each of %u workers has %.1f MB at "
      "most",
      mega(kept.all), workers, mega(kept.most));
  if (!parameters) return text;
  const train::StateShares::Bytes shared = shares.OfParameters();
  return text + Format(
                    "; of %.1f MB of parameters, as of their gradients, "
                    "%.1f MB beside those that its steps are at",
                    mega(shared.all), mega(shared.most));
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
                JobNode::Make(job, options, keys, OrderOf(stages),
                              PlanOf(options, stages)));
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
    train::ArtifactStep& step, const OwnParts* own) {
  MXC_RT_ASSIGN(ArtifactKeys keys, JobKeys(job, options, *step.model()));
  std::unique_ptr<JobWorker> made(new JobWorker(std::move(keys)));
  MXC_RT_ASSIGN(made->node_,
                JobNode::Make(job, options, made->keys_, OrderOf(stages),
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
  } else if (options.shards_states) {
    MXC_RT_ASSIGN(made->updated_, train::KeysOf(step.model()->tables()));
    MXC_RT_ASSIGN(
        auto shares,
        train::StateShares::Of(made->updated_, job.workers, options.cut_from));
    made->remark_ = RemarkOf(shares, job.workers, own != nullptr);
    made->distributed_ = std::make_unique<ShardedStep>(
        step, made->keys_, made->updated_, std::move(shares), own, worker,
        job.rank, job.workers,
        [&node, &worker] { return node.MakeMesh(worker); });
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
