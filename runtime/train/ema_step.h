// SPDX-License-Identifier: Apache-2.0
// A TrainStep that keeps an exponential moving average (EMA) of what another one
// learns, of its parameters and of what the network itself computes (moving
// statistics), and scores by that. After update t, counted from 1,
//
//   average ← d · average + (1 − d) · value,   d = min(D, (1 + t) / (10 + t))
//
// for each element: a small d at first forgets the initial values soon, as in
// TensorFlow's ExponentialMovingAverage with num_updates. It begins with the
// values that training begins with.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/train/delegating_step.h"

namespace mxc::train {

// The name of a state, i64[1]: how many updates are in the averages; -1: there
// are none yet.
inline constexpr std::string_view kAveragedUpdatesName = "updates/ema";

class EmaStep final : public DelegatingStep {
 public:
  // `inner` keeps what it learns in this process, and must outlive this;
  // 0 < `decay` < 1.
  EmaStep(TrainStep& inner, double decay);

  StatusOr<Position> Begin(const Position& own,
                           const EpochLength& length) override;
  StatusOr<float> Accumulate(const data::Batch& batch, int64_t length) override;
  StatusOr<float> Train(const data::Batch& batch, int64_t length,
                        double learning_rate) override;
  // By the averages.
  StatusOr<float> Score(const data::Batch& batch, int64_t length) override;
  Status EndEpoch() override;
  // The inner step's as training has them, then the averages under the names
  // that AverageOf gives, f32.
  const std::vector<data::Field>& states() const override { return states_; }
  std::span<std::byte> State(size_t index) override;
  Status CollectStates() override;
  Status LendStates() override;
  bool Saves(size_t index) const override;
  // Training may go on from what a run without averages has saved, which then
  // begin there.
  bool Requires(size_t index) const override;
  StatusOr<std::string> ExplainLoss() override;

 private:
  struct Averaged {
    size_t state = 0;  // of the inner step
    std::vector<float> average;
    std::vector<std::byte> own;  // while the state holds the average
  };

  size_t inner_count() const { return inner().states().size(); }
  void BeginAverages();
  void AddValues();
  std::span<const float> ValuesOf(const Averaged& one);
  // Whether the inner step's states hold the averages, or what is its own.
  void Show(bool averages);

  const double decay_;
  std::vector<data::Field> states_;
  std::vector<Averaged> averaged_;
  int64_t updates_ = -1;
  bool shows_averages_ = false;
  std::vector<float> values_;  // of a state that is no f32
};

}  // namespace mxc::train
