// SPDX-License-Identifier: Apache-2.0
// A TrainStep of one process whose updates follow several batches: an artifact's
// entries GRAD compute gradients, which are added up, and its entries UPDATE
// make of them what servers would.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/train/delegating_step.h"
#include "runtime/train/step/artifact_keys.h"
#include "runtime/train/step/artifact_shelf.h"
#include "runtime/train/step/artifact_step.h"
#include "runtime/train/step/gradient_sums.h"

namespace mxc::train {

class AccumulatingStep final : public DelegatingStep {
 public:
  // `step` is one of gradients, and must outlive this.
  static runtime::StatusOr<std::unique_ptr<AccumulatingStep>> Make(
      ArtifactStep& step);

  runtime::StatusOr<Position> Begin(const Position& own,
                                    const EpochLength& length) override;
  runtime::StatusOr<float> Accumulate(const data::Batch& batch,
                                      int64_t length) override;
  runtime::StatusOr<float> Train(const data::Batch& batch, int64_t length,
                                 double learning_rate) override;
  // Of what the last update took.
  std::vector<float> gradient_norms() const override { return sums_.Norms(); }

 private:
  AccumulatingStep(ArtifactStep& step, ArtifactKeys keys);

  const std::vector<runtime::Exchange>& Exchanges() const {
    return exchanges_.at(&step_.trainer());
  }
  bool SkipsUpdates() const;
  runtime::Status Update(const runtime::Exchange& exchange,
                         double learning_rate);

  ArtifactStep& step_;
  const ArtifactKeys keys_;
  // Of each executor that trains.
  std::map<const runtime::Executor*, std::vector<runtime::Exchange>> exchanges_;
  GradientSums sums_;
  std::unique_ptr<ArtifactShelf> shelf_;
};

}  // namespace mxc::train
