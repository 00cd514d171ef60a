// SPDX-License-Identifier: Apache-2.0
// What the steps of workers have in common that sum their gradients among
// themselves. A bucket's sum begins when its gradients are final, while the step
// goes on; updates are made when it is over.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "runtime/job/job_step.h"
#include "runtime/job/mesh_maker.h"
#include "runtime/job/status.h"
#include "runtime/train/step/artifact_shelf.h"
#include "runtime/train/step/buckets.h"

namespace mxc::job {

class SummingStep : public JobStep {
 public:
  // `step` is one of gradients, and nobody else follows its runs. `keys` are
  // those that servers have first values of, `updated` those of the artifact.
  // `make_mesh` is called once, when training begins. With `in_place` sums begin
  // once nothing reads the gradients, either.
  SummingStep(train::ArtifactStep& step, const train::ArtifactKeys& keys,
              const train::ArtifactKeys& updated, kvstore::Worker& worker,
              uint32_t rank, uint32_t workers, MeshMaker make_mesh,
              bool in_place);
  ~SummingStep() override;

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
  // All have the same parameters, and update them alike: worker 0 saves them.
  // What a worker draws, and its moving statistics, are its own.
  bool Saves(size_t index) const override {
    return rank_ == 0 || std::ranges::count(updated_.states, index) == 0;
  }
  // Training may go on from what a single process has saved.
  bool Requires(size_t) const override { return rank_ == 0; }

 protected:
  // A gradient's place in its bucket.
  struct Part {
    uint32_t key = 0;  // of updated_
    runtime::Exchange exchange;
    uint64_t at = 0;  // where it begins
    uint64_t elements = 0;
    uint64_t marks = 0;  // behind it; of a table's rows, else 0
  };
  // How far a run of an executor has come.
  struct Plan {
    runtime::Executor* executor;
    std::vector<std::vector<Part>> parts;  // by bucket
    std::vector<uint32_t> ready;  // by bucket, growing: after which step
    size_t begun = 0;             // buckets
  };

  // Before the first step: how sums are made.
  virtual Status Connect(std::unique_ptr<kvstore::Mesh> mesh) = 0;
  // Of the bucket, whose gradients are final.
  virtual void BeginSum(const Plan& plan, size_t bucket) = 0;
  // Makes the updates; all sums have begun.
  virtual Status Update(const Plan& plan, double learning_rate) = 0;
  // Before a run, before one of its steps, behind it.
  virtual Status BeforeRun() { return {}; }
  virtual void BeforeRow(const Plan&, size_t) {}
  virtual Status AfterRun() { return {}; }

  // A gradient that is no table's, which an update takes: of this batch, or the
  // sum of several.
  std::span<const float> GradientOf(const Plan& plan, const Part& part);
  // The rows of a table that this worker has used, and which these are.
  void TakeRows(const Plan& plan, const Part& part, std::span<float> place,
                std::span<float> marks);
  // By the rows of a table that any worker has used, of which there is a part.
  Status UpdateRows(uint32_t key, std::span<const float> rows,
                    std::span<const float> marks, uint64_t first, double rate);
  const std::deque<Plan>& plans() const { return plans_; }

  const train::ArtifactKeys& updated_;
  const uint32_t workers_;
  const std::vector<train::Bucket> buckets_;
  std::unique_ptr<train::ArtifactShelf> shelf_;

 private:
  Plan PlanOf(runtime::Executor& executor, bool in_place) const;
  void Before(Plan& plan, size_t row);
  StatusOr<float> Run(const data::Batch& batch, int64_t length, double rate);

  const MeshMaker make_mesh_;
  std::deque<Plan> plans_;
  bool accumulated_ = false;  // batches since the last update
};

}  // namespace mxc::job
