// SPDX-License-Identifier: Apache-2.0
// A TrainStep of one worker of several: it computes the gradients of its batch,
// servers update the parameters by those of all workers. A gradient leaves when
// it is final, while the step goes on; a parameter comes back until the next
// step needs it.
#pragma once

#include <deque>
#include <vector>

#include "runtime/artifact/communication.h"
#include "runtime/job/job_step.h"
#include "runtime/job/status.h"

namespace mxc::job {

class DistributedStep final : public JobStep {
 public:
  // `step` is one of gradients, and nobody else follows its runs. Without
  // `overlaps` gradients leave when it is over, and it waits for parameters.
  // They leave once for every `batches_a_push` of an epoch and at its end.
  DistributedStep(train::ArtifactStep& step, const train::ArtifactKeys& keys,
                  kvstore::Worker& worker, uint32_t rank, bool overlaps = true,
                  int64_t batches_a_push = 1);
  ~DistributedStep() override;

  StatusOr<float> Accumulate(const data::Batch& batch, int64_t length) override;
  StatusOr<float> Train(const data::Batch& batch, int64_t length,
                        double learning_rate) override;
  StatusOr<float> Score(const data::Batch& batch, int64_t length) override;
  const std::vector<data::Field>& states() const override { return states_; }
  // As it is when all that is under way has come.
  std::span<std::byte> State(size_t index) override;
  Status CollectStates() override;
  // Worker 0 saves what servers have, the others what they alone keep.
  bool Saves(size_t index) const override;
  // Compression may begin at a checkpoint that was made without: nothing has
  // been left by then.
  bool Requires(size_t index) const override;

 protected:
  train::Position After(uint64_t pushes, train::Position begin,
                        const train::EpochLength& length) const override;

 private:
  // The exchanges of an executor's runs, and how far a run has come.
  struct Plan {
    const runtime::Executor* executor;
    std::vector<runtime::Exchange> by_ready, by_needed;
    size_t pushed = 0, awaited = 0;
  };

  void AddResiduals();
  std::span<const float> GradientOf(const Plan& plan,
                                    const runtime::Exchange& exchange);
  void Before(Plan& plan, size_t step);
  void Push(const Plan& plan, const runtime::Exchange& exchange);
  void PushRows(const Plan& plan, const runtime::Exchange& exchange);
  Status Await(const runtime::Exchange& exchange);
  Status FinishRun();

  // The step's, then what compression has left of each trained key.
  std::vector<data::Field> states_;
  std::vector<uint32_t> residuals_;  // of those: the key
  bool overlaps_;                    // runs tell how far they have come
  std::deque<Plan> plans_;
  const int64_t batches_a_push_;
  bool pushes_ = true;        // of a run: whether it is the last before a push
  kvstore::OwnRows rows_;     // on their way out
  double learning_rate_ = 0;  // of this step
  Status status_;             // of what it waited for
};

}  // namespace mxc::job
