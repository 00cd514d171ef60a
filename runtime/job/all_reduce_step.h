// SPDX-License-Identifier: Apache-2.0
// A TrainStep of one worker of several that sum their gradients among
// themselves (runtime/kvstore/collective) and each make the same updates, of
// equal bytes. A bucket's sum begins when its gradients are final, while the
// step goes on; updates are made when it is over.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "runtime/job/job_step.h"
#include "runtime/job/mesh_maker.h"
#include "runtime/job/status.h"
#include "runtime/kvstore/collective/all_reduce.h"
#include "runtime/train/step/artifact_shelf.h"
#include "runtime/train/step/buckets.h"

namespace mxc::job {

class AllReduceStep final : public JobStep {
 public:
  // `step` is one of gradients, and nobody else follows its runs. `make_mesh`
  // is called once, when training begins.
  AllReduceStep(train::ArtifactStep& step, const train::ArtifactKeys& keys,
                kvstore::Worker& worker, uint32_t rank, uint32_t workers,
                MeshMaker make_mesh);
  ~AllReduceStep() override;

  StatusOr<train::Position> Begin(const train::Position& own,
                                  const train::EpochLength& length) override;
  StatusOr<float> Accumulate(const data::Batch& batch, int64_t length) override;
  StatusOr<float> Train(const data::Batch& batch, int64_t length,
                        double learning_rate) override;
  StatusOr<float> Score(const data::Batch& batch, int64_t length) override {
    return step_.Score(batch, length);
  }
  std::span<std::byte> State(size_t index) override {
    return step_.State(index);
  }
  // All have the same; worker 0 saves it.
  bool Saves(size_t) const override { return rank_ == 0; }

 private:
  // A gradient's place in its bucket.
  struct Part {
    uint32_t key = 0;
    runtime::Exchange exchange;
    std::span<float> place;
    std::span<float> marks;  // of a table's rows; else empty
  };
  // How far a run of an executor has come.
  struct Plan {
    const runtime::Executor* executor;
    std::vector<std::vector<Part>> parts;  // by bucket
    std::vector<uint32_t> ready;  // by bucket, growing: after which step
    size_t begun = 0;             // buckets
  };

  Plan PlanOf(const runtime::Executor& executor);
  void Before(Plan& plan, size_t row);
  void BeginNext(Plan& plan);
  void TakeRows(const Plan& plan, const Part& part);
  void TakeGradient(const Plan& plan, const Part& part);
  bool FindsNotFinite(const Plan& plan) const;
  Status Update(const Part& part, double learning_rate);
  Status FinishRun(double learning_rate);

  const uint32_t workers_;
  const MeshMaker make_mesh_;
  const std::vector<train::Bucket> buckets_;
  std::vector<std::vector<float>> buffers_;  // by bucket
  std::deque<Plan> plans_;
  bool accumulated_ = false;  // batches since the last update
  std::unique_ptr<train::ArtifactShelf> shelf_;
  std::unique_ptr<kvstore::AllReduce> all_reduce_;  // last: it uses the buffers
};

}  // namespace mxc::job
