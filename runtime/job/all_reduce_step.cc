// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/all_reduce_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mxc::job {

AllReduceStep::AllReduceStep(train::ArtifactStep& step,
                             const train::ArtifactKeys& keys,
                             kvstore::Worker& worker, uint32_t rank,
                             uint32_t workers, MeshMaker make_mesh)
    : SummingStep(step, keys, keys, worker, rank, workers, std::move(make_mesh),
                  /*in_place=*/false) {
  for (const train::Bucket& bucket : buckets_) {
    buffers_.emplace_back(bucket.elements);
  }
}

Status AllReduceStep::Connect(std::unique_ptr<kvstore::Mesh> mesh) {
  MXC_RT_ASSIGN(all_reduce_, kvstore::AllReduce::Make(std::move(mesh)));
  return {};
}

void AllReduceStep::BeginSum(const Plan& plan, size_t bucket) {
  const std::span<float> buffer = buffers_[bucket];
  for (const Part& part : plan.parts[bucket]) {
    const auto place = buffer.subspan(part.at, part.elements);
    if (part.marks > 0) {
      TakeRows(plan, part, place,
               buffer.subspan(part.at + part.elements, part.marks));
    } else {
      std::ranges::copy(GradientOf(plan, part), place.begin());
    }
  }
  all_reduce_->Begin(buffer);
}

Status AllReduceStep::UpdatePart(size_t bucket, const Part& part,
                                 double learning_rate) {
  const auto gradient =
      std::span(buffers_[bucket]).subspan(part.at, part.elements);
  if (part.marks == 0) {
    return shelf_->Update(part.key, 0, gradient, learning_rate);
  }
  const auto marks =
      std::span(buffers_[bucket]).subspan(part.at + part.elements, part.marks);
  return UpdateRows(part.key, gradient, marks, 0, learning_rate);
}

// Returns whether any worker has, once all sums are there: all find the same.
bool AllReduceStep::FindsNotFinite(const Plan& plan) const {
  for (size_t b = 0; b < buckets_.size(); ++b) {
    const auto scale =
        std::ranges::find(plan.parts[b], *updated_.loss_scale, &Part::key);
    if (scale == plan.parts[b].end()) continue;
    return !std::isfinite(buffers_[b][scale->at]);
  }
  return false;
}

Status AllReduceStep::Update(const Plan& plan, double learning_rate) {
  const float share = 1 / static_cast<float>(workers_);
  const uint64_t before = all_reduce_->begun() - buckets_.size();
  if (updated_.loss_scale) MXC_RT_RETURN_IF_ERROR(all_reduce_->Wait());
  const bool skips = updated_.loss_scale && FindsNotFinite(plan);
  for (size_t b = 0; b < buckets_.size(); ++b) {
    MXC_RT_RETURN_IF_ERROR(all_reduce_->Wait(before + b + 1));
    if (workers_ > 1) {
      for (float& value : buffers_[b]) value *= share;
    }
    for (const Part& part : plan.parts[b]) {
      if (skips && part.key != *updated_.loss_scale) continue;
      MXC_RT_RETURN_IF_ERROR(UpdatePart(b, part, learning_rate));
    }
  }
  return {};
}

}  // namespace mxc::job
