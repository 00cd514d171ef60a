// SPDX-License-Identifier: Apache-2.0
// A network and a source small enough to train a thousand times in a test: a
// line fitted by momentum, with a random state that every step draws from.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "runtime/train/train_step.h"

namespace mxc::train {

// 28 samples x ↦ 3x − 1 in batches of 4, in another order in every epoch.
class ToySamples : public data::Iterator {
 public:
  static constexpr int64_t kBatch = 4, kBatches = 7;

  std::string summary() const override { return "toy: 28 samples"; }
  int buckets() const override { return 1; }
  int64_t bucket_key(int) const override { return 0; }
  const data::Provides& provides(int) const override { return provides_; }
  int64_t samples() const override { return kBatch * kBatches; }
  int64_t batches(int64_t) const override { return kBatches; }
  const std::vector<std::string>& label_names() const override {
    return names_;
  }
  StatusOr<int64_t> CountClasses() const override { return std::ssize(names_); }
  bool has_held_out() const override { return false; }
  StatusOr<bool> Next(data::Batch& batch) override;
  data::Cursor cursor() const override { return cursor_; }
  Status Seek(const data::Cursor& cursor) override {
    if (cursor.order != cursor_.order) {
      return Fail(StatusCode::kInvalidArgument, "another order");
    }
    cursor_ = cursor;
    return {};
  }
  const data::BadRecords& bad_records() const override { return bad_; }

 private:
  data::Provides provides_;
  std::vector<std::string> names_;
  data::Cursor cursor_{0, 0, 77};
  data::BadRecords bad_;
};

class ToyStep : public TrainStep {
 public:
  // `keeps_copy`: the weight has a copy in single precision, as half precision
  // has.
  explicit ToyStep(bool keeps_copy = false);

  const TrainFacts& facts() const override { return facts_; }
  StatusOr<std::string> symbol() const override { return std::string("{}"); }
  StatusOr<data::Provides> needs(int64_t) const override {
    return data::Provides();
  }
  StatusOr<float> Accumulate(const data::Batch& batch, int64_t length) override;
  StatusOr<float> Train(const data::Batch& batch, int64_t length,
                        double learning_rate) override;
  StatusOr<float> Score(const data::Batch& batch, int64_t length) override;
  std::vector<FloatView> outputs() const override {
    return {{outputs_, {static_cast<int64_t>(outputs_.size())}}};
  }
  const std::vector<data::Field>& states() const override { return fields_; }
  std::span<std::byte> State(size_t index) override { return memory_[index]; }
  StatusOr<std::string> ExplainLoss() override {
    return std::string("step 3, 'log', wrote nan into 'toy'");
  }

  // Called at the beginning of every step with its number, from 1.
  std::function<void(int64_t)> at_step;
  // The step whose loss is not a number.
  int64_t fails_at = -1;
  // Of each step, how many batches it was made of.
  std::vector<int64_t> batches_of_steps;

 private:
  StatusOr<float> AddGradients(const data::Batch& batch, int64_t length);
  float& Value(size_t state, size_t index = 0) {
    return reinterpret_cast<float*>(memory_[state].data())[index];
  }
  int64_t* Random() {
    return reinterpret_cast<int64_t*>(memory_.back().data());
  }

  TrainFacts facts_;
  std::vector<data::Field> fields_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<float> outputs_;
  float gradients_[2] = {0, 0};  // summed over the batches of a step
  int64_t batches_ = 0;
};

}  // namespace mxc::train
