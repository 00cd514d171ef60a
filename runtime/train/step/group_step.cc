// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/group_step.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include "runtime/artifact/manifest.h"
#include "runtime/train/score.h"

namespace mxc::train {
namespace {

using runtime::Array;
using runtime::Fail;
using runtime::NamedArray;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

// The part of an array's rows, where they lie.
Array PartOf(const Array& array, size_t part, size_t parts) {
  Array rows = array;
  rows.shape[0] /= static_cast<int64_t>(parts);
  const size_t bytes = array.bytes().size() / parts;
  rows.storage = {array.storage, array.storage.get() + part * bytes};
  return rows;
}

StatusOr<data::Batch> PartOf(const data::Batch& batch, size_t part,
                             size_t parts) {
  data::Batch rows = batch;
  for (auto* arrays : {&rows.data, &rows.labels}) {
    for (NamedArray& named : *arrays) {
      const auto& shape = named.array.shape;
      if (shape.empty() || shape[0] % static_cast<int64_t>(parts) != 0) {
        return Fail(StatusCode::kInvalidArgument,
                    "'%s' cannot be dealt to %zu devices: its first axis is "
                    "no multiple of that",
                    named.name.c_str(), parts);
      }
      named.array = PartOf(named.array, part, parts);
    }
  }
  return rows;
}

// Philox draws other numbers by another seed.
void ChangeSeed(std::span<std::byte> random, size_t part) {
  uint64_t seed;
  std::memcpy(&seed, random.data(), sizeof seed);
  seed += part;
  std::memcpy(random.data(), &seed, sizeof seed);
}

}  // namespace

StatusOr<std::vector<std::string>> DeviceList(const std::string& text) {
  std::vector<std::string> devices;
  std::set<const runtime::Device*> seen;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    devices.push_back(text.substr(begin, end - begin));
    begin = end + 1;
    const auto device = runtime::FindDevice(devices.back().c_str());
    if (!device.ok()) return device.status();
    if (seen.insert(*device).second) continue;
    return Fail(StatusCode::kInvalidArgument,
                "device '%s' is named twice in '%s'", devices.back().c_str(),
                text.c_str());
  }
  return devices;
}

Status CheckReplicas(const runtime::Model& model, size_t devices) {
  const auto values = runtime::ManifestValues(model.manifest(), "replicas");
  const size_t replicas =
      values.empty() ? 1 : std::strtoull(values[0].c_str(), nullptr, 10);
  if (replicas == devices) return {};
  return Fail(StatusCode::kInvalidArgument,
              "it was compiled for training on %zu device%s (--replicas), and "
              "--device names %zu",
              replicas, replicas == 1 ? "" : "s that share each batch",
              devices);
}

StatusOr<std::unique_ptr<GroupStep>> GroupStep::Bound(
    const std::shared_ptr<const runtime::Model>& model, const std::string& path,
    const std::vector<std::string>& devices) {
  const std::string place = path.empty() ? "" : path + ": ";
  const Status meant = CheckReplicas(*model, devices.size());
  if (!meant.ok()) {
    return Fail(meant.code(), "%s%s", place.c_str(), meant.message().c_str());
  }
  std::unique_ptr<GroupStep> step(new GroupStep);
  for (const std::string& device : devices) {
    auto part = ArtifactStep::Bound(model, {.path = path, .device = device});
    if (!part.ok()) return part.status();
    step->parts_.push_back(std::move(*part));
  }
  if (step->parts_[0]->Carries()) {
    return Fail(StatusCode::kUnsupported,
                "%sa network that carries a state from batch to batch trains "
                "on one device",
                place.c_str());
  }
  step->given_.assign(step->states().size(), true);
  const Status connected = step->Connect(devices);
  if (!connected.ok()) return connected;
  return step;
}

Status GroupStep::Connect(const std::vector<std::string>& devices) {
  std::vector<const runtime::Device*> found;
  for (const std::string& name : devices) {
    const auto device = runtime::FindDevice(name.c_str());
    if (!device.ok()) return device.status();
    found.push_back(*device);
  }
  auto group = found[0]->OpenGroup(found);
  if (!group.ok()) return group.status();
  group_ = std::move(*group);
  for (size_t i = 0; i < parts_.size(); ++i) {
    MXC_RT_RETURN_IF_ERROR(parts_[i]->Join(group_, i));
  }
  return {};
}

StatusOr<data::Provides> GroupStep::needs(int64_t length) const {
  StatusOr<data::Provides> needs = parts_[0]->needs(length);
  if (!needs.ok()) return needs;
  for (auto* fields : {&needs->data, &needs->labels}) {
    for (data::Field& field : *fields) {
      if (field.shape.empty()) continue;
      field.shape[0] *= static_cast<int64_t>(parts_.size());
    }
  }
  return needs;
}

void GroupStep::SpreadStates() {
  for (size_t i = 0; i < given_.size(); ++i) {
    if (!given_[i]) continue;
    const std::span<const std::byte> first = parts_[0]->State(i);
    for (size_t part = 1; part < parts_.size(); ++part) {
      const std::span<std::byte> state = parts_[part]->State(i);
      std::ranges::copy(first, state.begin());
      if (states()[i].name == "random") ChangeSeed(state, part);
    }
    given_[i] = false;
  }
}

StatusOr<std::vector<float>> GroupStep::RunAll(const data::Batch& batch,
                                               const Run& run) {
  std::vector<data::Batch> batches;
  for (size_t part = 0; part < parts_.size(); ++part) {
    auto rows = PartOf(batch, part, parts_.size());
    if (!rows.ok()) return rows.status();
    batches.push_back(std::move(*rows));
  }
  SpreadStates();
  std::vector<std::optional<StatusOr<float>>> losses(parts_.size());
  const auto run_part = [&](size_t part) {
    losses[part] = run(*parts_[part], batches[part]);
    // The others would wait for its sums.
    if (!losses[part]->ok()) group_->Abort();
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (size_t part = 1; part < parts_.size(); ++part) {
        threads.emplace_back(run_part, part);
      }
    } catch (const std::system_error& error) {
      group_->Abort();  // those that run would wait for the others' sums
      return Fail(StatusCode::kIo, "cannot start a thread for each device: %s",
                  error.code().message().c_str());
    }
    run_part(0);
  }
  std::vector<float> values;
  for (const auto& loss : losses) {
    if (!(*loss).ok()) return (*loss).status();
    values.push_back(**loss);
  }
  return values;
}

// The entry takes the mean of the losses.
StatusOr<float> GroupStep::Train(const data::Batch& batch, int64_t length,
                                 double learning_rate) {
  const auto losses =
      RunAll(batch, [&](ArtifactStep& part, const data::Batch& rows) {
        return part.Train(rows, length, learning_rate);
      });
  if (!losses.ok()) return losses.status();
  return losses->front();
}

StatusOr<float> GroupStep::Score(const data::Batch& batch, int64_t length) {
  const auto losses =
      RunAll(batch, [&](ArtifactStep& part, const data::Batch& rows) {
        return part.Score(rows, length);
      });
  if (!losses.ok()) return losses.status();
  double sum = 0, terms = 0;
  for (size_t part = 0; part < parts_.size(); ++part) {
    const auto rows = PartOf(batch, part, parts_.size());
    if (!rows.ok()) return rows.status();
    const double own = LossTerms(facts(), *rows);
    sum += static_cast<double>((*losses)[part]) * own;
    terms += own;
  }
  return static_cast<float>(terms > 0 ? sum / terms : 0);
}

std::span<std::byte> GroupStep::State(size_t index) {
  given_[index] = true;
  return parts_[0]->State(index);
}

// Rows of the first device, then of the next one.
std::vector<FloatView> GroupStep::outputs() const {
  std::vector<FloatView> views = parts_[0]->outputs();
  outputs_.assign(views.size(), {});
  for (const auto& part : parts_) {
    const std::vector<FloatView> rows = part->outputs();
    for (size_t k = 0; k < rows.size(); ++k) {
      outputs_[k].insert(outputs_[k].end(), rows[k].values.begin(),
                         rows[k].values.end());
    }
  }
  for (size_t k = 0; k < views.size(); ++k) {
    views[k].values = outputs_[k];
    if (views[k].shape.empty()) views[k].shape = {1};
    views[k].shape[0] *= static_cast<int64_t>(parts_.size());
  }
  return views;
}

// Each device looks alone: one that has found something stops.
StatusOr<std::string> GroupStep::ExplainLoss() {
  for (size_t part = 0; part < parts_.size(); ++part) {
    MXC_RT_RETURN_IF_ERROR(parts_[part]->Join(nullptr, 0));
  }
  for (const auto& part : parts_) {
    StatusOr<std::string> cause = part->ExplainLoss();
    if (!cause.ok() || !cause->empty()) return cause;
  }
  return std::string();
}

}  // namespace mxc::train
