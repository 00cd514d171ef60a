// SPDX-License-Identifier: Apache-2.0
// A TrainStep of one worker of several that train by themselves and average
// their parameters (runtime/kvstore/averaging.h): every few steps of an epoch,
// and when it ends, so that what is scored and saved then has all that was
// learned.
//
// Checkpoints hold what a worker has by itself and what all have in common, so
// that training goes on from any step as if it had not stopped:
//
//   worker 0     the parameters: what is common after a meeting, else its own
//                averaging/NAME: the other of the two
//                NAME/speed: block momentum's s, which servers keep
//   another one  the parameters: its own
#pragma once

#include <vector>

#include "runtime/job/job_step.h"
#include "runtime/job/status.h"
#include "runtime/kvstore/averaging.h"

namespace mxc::job {

class AveragingStep final : public JobStep {
 public:
  // `step` is one of whole steps.
  AveragingStep(train::ArtifactStep& step, const train::ArtifactKeys& keys,
                kvstore::Worker& worker, uint32_t rank,
                const kvstore::Averaging& averaging);

  StatusOr<train::Position> Begin(const train::Position& own,
                                  const train::EpochLength& length) override;
  StatusOr<float> Train(const data::Batch& batch, int64_t length,
                        double learning_rate) override;
  Status EndEpoch() override;
  // Of what all workers have in common.
  StatusOr<float> Score(const data::Batch& batch, int64_t length) override;
  const std::vector<data::Field>& states() const override { return states_; }
  std::span<std::byte> State(size_t index) override;
  Status CollectStates() override;
  bool Saves(size_t index) const override {
    return rank_ == 0 || index < step_.states().size();
  }
  // Training may go on from what a single process has saved.
  bool Requires(size_t index) const override {
    return index < step_.states().size();
  }
  bool TakesEarlier() const override { return false; }

 protected:
  std::span<std::byte> ValueOf(uint32_t key) override;
  train::Position After(uint64_t pushes, train::Position begin,
                        const train::EpochLength& length) const override;

 private:
  void AddStates();
  Status Meet();
  Status Show(bool common);
  std::span<float> Own(uint32_t key);

  const kvstore::Averaging averaging_;
  // The step's, then whether the others were saved, and those by key.
  std::vector<data::Field> states_;
  int64_t saved_ = 0;
  bool shows_common_ = true;  // then common_ holds the worker's own
  uint32_t steps_ = 0;        // since the last meeting
  // By key; of one that is not trained common_ is what servers keep beside.
  std::vector<std::vector<float>> common_, push_;
};

}  // namespace mxc::job
