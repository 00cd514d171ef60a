// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/artifact_shelf.h"

#include <algorithm>
#include <cstring>

#include "runtime/train/step/artifact_step.h"

namespace mxc::train {

using runtime::Executor;
using runtime::Status;
using runtime::StatusOr;

StatusOr<std::unique_ptr<ArtifactShelf>> ArtifactShelf::Make(
    std::shared_ptr<const runtime::Model> model, const ArtifactKeys& keys,
    const Executor* share) {
  if (!RunsOnHost(*model)) {
    return runtime::Fail(
        runtime::StatusCode::kUnsupported,
        "the parameters of a job are updated by processors, and the artifact "
        "was compiled for device '%s'; compile it with --target native",
        model->tables().Text(model->tables().header().device));
  }
  std::unique_ptr<ArtifactShelf> shelf(new ArtifactShelf(keys));
  shelf->executors_.resize(keys.table.size());
  shelf->counters_.resize(keys.table.size());
  shelf->gradients_.resize(keys.table.size());
  shelf->position_.resize(keys.table[keys.position].bytes);
  for (size_t key = 0; key < keys.table.size(); ++key) {
    if (!keys.table[key].trained) continue;
    Executor::Options options;
    options.share = shelf->first_ == nullptr ? share : shelf->first_;
    auto executor = Executor::Bind(model, keys.entries[key], options);
    if (!executor.ok()) return executor.status();
    shelf->executors_[key] = std::move(*executor);
    if (shelf->first_ == nullptr) shelf->first_ = shelf->executors_[key].get();
  }
  for (const size_t counter : keys.counters) {
    shelf->OnWritten(static_cast<uint32_t>(counter));
  }
  return shelf;
}

std::span<std::byte> ArtifactShelf::Value(uint32_t key) {
  if (key == keys_.position) return position_;
  return first_->State(keys_.states[key]);
}

// All count on from what the counter is now.
void ArtifactShelf::OnWritten(uint32_t key) {
  const auto at = std::ranges::find(keys_.counters, key);
  if (at == keys_.counters.end()) return;
  const auto value = Value(key);
  const auto assign = [&](Counters& counters) {
    counters.resize(keys_.counters.size());
    counters[static_cast<size_t>(at - keys_.counters.begin())].assign(
        value.begin(), value.end());
  };
  assign(begun_);
  for (auto& parts : counters_) {
    for (auto& [first, counters] : parts) assign(counters);
  }
}

// What a server has of a sparse key is one part.
ArtifactShelf::Counters& ArtifactShelf::CountersOf(uint32_t key,
                                                   uint64_t first) {
  if (keys_.table[key].sparse()) first = 0;
  return counters_[key].try_emplace(first, begun_).first->second;
}

// Of a parameter: it, what the optimizer keeps for it, what all parameters
// share, and its own counters.
std::vector<std::span<std::byte>> ArtifactShelf::Kept(uint32_t key,
                                                      uint64_t first) {
  const kvstore::KeySpec& spec = keys_.table[key];
  if (!spec.trained) return {Value(key)};
  std::vector<std::span<std::byte>> parts;
  for (uint32_t other = 0; other < keys_.table.size(); ++other) {
    const kvstore::KeySpec& beside = keys_.table[other];
    if (beside.group == spec.group || beside.everywhere) {
      parts.push_back(Value(other));
    }
  }
  for (auto& counter : CountersOf(key, first)) parts.push_back(counter);
  return parts;
}

bool ArtifactShelf::IsWholeTasks(uint32_t key, uint64_t first,
                                 uint64_t count) const {
  const uint64_t grain = keys_.table[key].grain;
  return grain > 0 && first % grain == 0 && count % grain == 0;
}

// Where the key's gradient would begin. An entry that updates all elements finds
// 0 or what was there before where they are other servers', and makes something
// of those that nobody asks for.
const float* ArtifactShelf::Whole(uint32_t key, uint64_t first,
                                  std::span<const float> gradient) {
  const uint64_t elements = keys_.table[key].elements();
  if (gradient.size() == elements) return gradient.data();
  if (IsWholeTasks(key, first, gradient.size())) {
    return reinterpret_cast<const float*>(
        reinterpret_cast<uintptr_t>(gradient.data()) - first * sizeof(float));
  }
  gradients_[key].resize(elements);
  std::ranges::copy(gradient, &gradients_[key][first]);
  return gradients_[key].data();
}

Status ArtifactShelf::Update(uint32_t key, uint64_t first,
                             std::span<const float> gradient, double rate) {
  return Run(key, first, gradient.size(), Whole(key, first, gradient), rate);
}

// The parameter, and what the optimizer keeps for each of its elements.
std::vector<std::span<float>> ArtifactShelf::Tables(uint32_t key) {
  const kvstore::KeySpec& spec = keys_.table[key];
  std::vector<std::span<float>> tables;
  for (uint32_t other = 0; other < keys_.table.size(); ++other) {
    const kvstore::KeySpec& beside = keys_.table[other];
    if (beside.group != spec.group || beside.bytes != spec.bytes) continue;
    tables.emplace_back(reinterpret_cast<float*>(Value(other).data()),
                        spec.elements());
  }
  return tables;
}

// The rows are updated side by side at the tables' front, whose own rows are put
// aside; so no other row is touched, however the update's tasks are cut.
Status ArtifactShelf::UpdateRows(uint32_t key, const kvstore::Rows& rows,
                                 double rate) {
  const kvstore::KeySpec& spec = keys_.table[key];
  const uint64_t grain = spec.grain > 0 ? spec.grain : spec.elements();
  const uint64_t tasks = (rows.elements.size() + grain - 1) / grain;
  const uint64_t lent = std::min(tasks * grain, spec.elements());
  const auto tables = Tables(key);
  std::vector<std::vector<float>> aside;
  for (const std::span<float> table : tables) {
    const auto& front = aside.emplace_back(table.begin(), table.begin() + lent);
    for (size_t i = 0; i < rows.numbers.size(); ++i) {
      const uint64_t at = rows.numbers[i] * spec.width;
      for (uint64_t k = 0; k < spec.width; ++k) {
        table[i * spec.width + k] =
            at + k < lent ? front[at + k] : table[at + k];
      }
    }
  }
  auto& gradient = gradients_[key];
  gradient.assign(lent, 0);
  std::ranges::copy(rows.elements, gradient.begin());
  MXC_RT_RETURN_IF_ERROR(Run(key, 0, lent, gradient.data(), rate));
  for (size_t t = 0; t < tables.size(); ++t) {
    const std::span<float> table = tables[t];
    const std::vector<float> updated(table.begin(),
                                     table.begin() + rows.elements.size());
    std::ranges::copy(aside[t], table.begin());
    for (size_t i = 0; i < rows.numbers.size(); ++i) {
      std::copy_n(&updated[i * spec.width], spec.width,
                  &table[rows.numbers[i] * spec.width]);
    }
  }
  return {};
}

Status ArtifactShelf::Run(uint32_t key, uint64_t first, uint64_t count,
                          const float* whole, double rate) {
  Executor& executor = *executors_[key];
  Counters& counters = CountersOf(key, first);
  for (size_t i = 0; i < counters.size(); ++i) {
    std::ranges::copy(counters[i],
                      Value(static_cast<uint32_t>(keys_.counters[i])).begin());
  }
  const auto inputs = executor.model().tables().Inputs(executor.entry());
  for (size_t k = 0; k < inputs.size(); ++k) {
    const uint8_t role = executor.buffers()[inputs[k]].role;
    if (role == MXC_TENSOR_GRADIENT) executor.BindInput(k, whole);
    if (role == MXC_TENSOR_RATE) {
      std::memcpy(executor.InputStorage(k), &rate, sizeof rate);
    }
  }
  const uint64_t elements = keys_.table[key].elements();
  MXC_RT_RETURN_IF_ERROR(IsWholeTasks(key, first, count)
                             ? executor.RunElements(first, count, elements)
                             : executor.Run());
  for (size_t i = 0; i < counters.size(); ++i) {
    std::ranges::copy(Value(static_cast<uint32_t>(keys_.counters[i])),
                      counters[i].begin());
  }
  return {};
}

}  // namespace mxc::train
