// SPDX-License-Identifier: Apache-2.0
// What the steps of a job's workers have in common: an artifact's step that
// computes, and states that servers have, too.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/job/status.h"
#include "runtime/kvstore/worker.h"
#include "runtime/train/delegating_step.h"
#include "runtime/train/step/artifact_keys.h"
#include "runtime/train/step/artifact_step.h"
#include "runtime/train/step/gradient_sums.h"

namespace mxc::job {

class JobStep : public train::DelegatingStep {
 public:
  // All must outlive the step. The worker of rank 0 brings the first values of
  // all keys, those of its states when training begins.
  JobStep(train::ArtifactStep& step, const train::ArtifactKeys& keys,
          kvstore::Worker& worker, uint32_t rank)
      : DelegatingStep(step),
        step_(step),
        keys_(keys),
        worker_(worker),
        rank_(rank),
        sums_(step) {}

  StatusOr<train::Position> Begin(const train::Position& own,
                                  const train::EpochLength& length) override;

  // A process goes on from what it saves itself.
  bool Requires(size_t index) const override { return Saves(index); }
  // Of what was pushed last.
  std::vector<float> gradient_norms() const override {
    return sums_.empty() ? step_.gradient_norms() : sums_.Norms();
  }

 protected:
  bool begun() const { return begun_; }
  // The memory of a key's value in this process.
  virtual std::span<std::byte> ValueOf(uint32_t key) {
    return step_.State(keys_.states[key]);
  }
  // The steps and batches at which this worker stands after it has pushed so
  // often since all began.
  virtual train::Position After(uint64_t pushes, train::Position begin,
                                const train::EpochLength&) const {
    begin.steps += static_cast<int64_t>(pushes);
    begin.batches += static_cast<int64_t>(pushes);
    return begin;
  }

  train::ArtifactStep& step_;
  const train::ArtifactKeys& keys_;
  kvstore::Worker& worker_;
  const uint32_t rank_;
  train::GradientSums sums_;  // of several batches that make one update

 private:
  Status PullAll(std::span<std::byte> position);

  bool begun_ = false;
};

}  // namespace mxc::job
