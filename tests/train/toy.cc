// SPDX-License-Identifier: Apache-2.0
#include "tests/train/toy.h"

#include <cmath>

namespace mxc::train {
namespace {

enum { kWeight, kBias, kMean, kWeightMomentum, kBiasMomentum, kRandom };

runtime::Array ZeroFloats(int64_t count) {
  return *runtime::Array::Allocate(runtime::ElementType::kF32, {count});
}

float* FloatsOf(runtime::Array& array) {
  return reinterpret_cast<float*>(array.bytes().data());
}

float At(const data::NamedArray& named, size_t index) {
  float value = 0;
  std::memcpy(&value, named.array.bytes().data() + index * sizeof value,
              sizeof value);
  return value;
}

}  // namespace

StatusOr<bool> ToySamples::Next(data::Batch& batch) {
  if (cursor_.batch == kBatches) {
    cursor_ = {cursor_.epoch + 1, 0, cursor_.order};
    return false;
  }
  batch.data = {{"data", ZeroFloats(kBatch)}};
  batch.labels = {{"label", ZeroFloats(kBatch)}};
  for (int64_t i = 0; i < kBatch; ++i) {
    // 5 is prime to 28: every sample once an epoch.
    const int64_t sample =
        ((cursor_.batch * kBatch + i) * 5 + cursor_.epoch * 11) % samples();
    const float x = static_cast<float>(sample) / 14 - 1;
    FloatsOf(batch.data[0].array)[i] = x;
    FloatsOf(batch.labels[0].array)[i] = 3 * x - 1;
  }
  ++cursor_.batch;
  return true;
}

ToyStep::ToyStep(bool keeps_copy) {
  facts_.network = "toy";
  facts_.optimizer = "sgd";
  facts_.optimizer_options = {{"momentum", "0.5"}};
  facts_.optimizer_state = "momentum";
  facts_.copied_state = "(momentum, weight_f32)";
  facts_.parameters = {"weight", "bias"};
  facts_.auxiliaries = {"mean"};
  for (const char* name :
       {"weight", "bias", "mean", "weight/momentum", "bias/momentum"}) {
    fields_.push_back({name, runtime::ElementType::kF32, {1}});
    memory_.emplace_back(sizeof(float));
  }
  if (keeps_copy) {
    fields_.push_back({"weight/weight_f32", runtime::ElementType::kF32, {1}});
    memory_.emplace_back(sizeof(float));
  }
  fields_.push_back({"random", runtime::ElementType::kI64, {2}});
  memory_.emplace_back(2 * sizeof(int64_t));
  Random()[0] = 12345;
}

StatusOr<float> ToyStep::Score(const data::Batch& batch, int64_t) {
  double loss = 0;
  outputs_.resize(ToySamples::kBatch);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i] = Value(kWeight) * At(batch.data[0], i) + Value(kBias);
    const double error =
        static_cast<double>(outputs_[i] - At(batch.labels[0], i));
    loss += error * error / 2;
  }
  return static_cast<float>(loss / static_cast<double>(outputs_.size()));
}

StatusOr<float> ToyStep::AddGradients(const data::Batch& batch,
                                      int64_t length) {
  const StatusOr<float> loss = Score(batch, length);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const float error = outputs_[i] - At(batch.labels[0], i);
    gradients_[0] += error * At(batch.data[0], i) / 4;
    gradients_[1] += error / 4;
  }
  ++batches_;
  return loss;
}

StatusOr<float> ToyStep::Accumulate(const data::Batch& batch, int64_t length) {
  return AddGradients(batch, length);
}

StatusOr<float> ToyStep::Train(const data::Batch& batch, int64_t length,
                               double learning_rate) {
  const int64_t number = Random()[1] + 1;
  if (at_step) at_step(number);
  const StatusOr<float> loss = AddGradients(batch, length);
  if (number == fails_at) return std::nanf("");
  batches_of_steps.push_back(batches_);
  Random()[1] = number;
  const auto drawn = static_cast<uint64_t>(Random()[0]);
  Random()[0] =
      static_cast<int64_t>(drawn * 6364136223846793005u + 1442695040888963407u);
  const float noise = static_cast<float>(Random()[0] >> 40) * 0x1p-34f;
  for (const size_t k : {size_t{0}, size_t{1}}) {
    float& momentum = Value(kWeightMomentum + k);
    const float gradient = gradients_[k] / static_cast<float>(batches_);
    momentum = 0.5f * momentum -
               static_cast<float>(learning_rate) * (gradient + noise);
    Value(kWeight + k) += momentum;
    gradients_[k] = 0;
  }
  batches_ = 0;
  Value(kMean) = 0.9f * Value(kMean) + 0.1f * outputs_[0];
  return loss;
}

}  // namespace mxc::train
