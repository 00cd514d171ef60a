// SPDX-License-Identifier: Apache-2.0
#include "tools/run/distributed_step.h"

#include <cmath>
#include <utility>

namespace mxc::run {

using runtime::Status;
using runtime::StatusOr;

Status DistributedStep::Begin() {
  if (std::exchange(begun_, true)) return {};
  for (uint32_t key = 0; key < keys_.table.size(); ++key) {
    const auto state = step_.State(keys_.states[key]);
    if (rank_ == 0) {
      worker_.Init(key, state);
    } else if (keys_.table[key].trained) {
      worker_.Pull(key, state, key);
    }
  }
  return worker_.Wait();
}

// A step whose loss is not finite pushes nothing: the loop ends the job.
StatusOr<float> DistributedStep::Train(const data::Batch& batch, int64_t length,
                                       double learning_rate) {
  MXC_RT_RETURN_IF_ERROR(Begin());
  const StatusOr<float> loss = step_.Train(batch, length, learning_rate);
  if (!loss.ok() || !std::isfinite(*loss)) return loss;
  const auto gradients = step_.gradients();
  for (uint32_t key = 0; key < keys_.table.size(); ++key) {
    if (!keys_.table[key].trained) continue;
    const auto bytes = gradients.at(keys_.table[key].name);
    worker_.PushPull(key,
                     {reinterpret_cast<const float*>(bytes.data()),
                      bytes.size() / sizeof(float)},
                     learning_rate, step_.State(keys_.states[key]), key);
  }
  MXC_RT_RETURN_IF_ERROR(worker_.Wait());
  return loss;
}

StatusOr<float> DistributedStep::Score(const data::Batch& batch,
                                       int64_t length) {
  MXC_RT_RETURN_IF_ERROR(Begin());
  return step_.Score(batch, length);
}

// What the optimizer keeps; parameters are here after each step.
Status DistributedStep::CollectStates() {
  if (!begun_) return {};
  for (uint32_t key = 0; key < keys_.table.size(); ++key) {
    if (keys_.table[key].trained) continue;
    worker_.Pull(key, step_.State(keys_.states[key]), key);
  }
  return worker_.Wait();
}

}  // namespace mxc::run
