// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/shared_model.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace mxc::kvstore {

SharedModel::SharedModel(const KeyTable& keys, KVStore& store, int devices)
    : keys_(keys),
      store_(store),
      devices_(static_cast<size_t>(devices)),
      states_(keys.size()) {
  for (KeyState& state : states_) {
    state.pushed.resize(devices_);
    state.requests.resize(devices_);
  }
}

Status SharedModel::CheckPlace(uint32_t key, int device) const {
  if (key < keys_.size() && device >= 0 &&
      static_cast<size_t>(device) < devices_) {
    return {};
  }
  return Fail(StatusCode::kInvalidArgument,
              "key %u of device %d; there are %zu keys and %zu devices", key,
              device, keys_.size(), devices_);
}

Status SharedModel::SetParam(const std::string& name,
                             const std::string& value) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  const bool is_rate = name == "learning_rate" || name == "eta";
  if (!is_rate || value.empty() || *end != '\0') {
    return Fail(StatusCode::kInvalidArgument,
                "parameter '%s' cannot be '%s'; expected learning_rate or eta "
                "and a number",
                name.c_str(), value.c_str());
  }
  const std::lock_guard lock(mutex_);
  store_.SetLearningRate(number);
  return {};
}

Status SharedModel::InitKey(uint32_t key, std::span<const float> value) {
  const std::lock_guard lock(mutex_);
  return store_.Init(key, value);
}

Status SharedModel::Push(uint32_t key, int device,
                         std::span<const float> gradient, int64_t priority) {
  MXC_RT_RETURN_IF_ERROR(CheckPlace(key, device));
  const std::lock_guard lock(mutex_);
  KeyState& state = states_[key];
  auto& own = state.pushed[static_cast<size_t>(device)];
  if (!own.empty()) {
    return Fail(StatusCode::kInvalidArgument,
                "device %d has pushed key '%s' already; others have not yet",
                device, keys_[key].name.c_str());
  }
  own = gradient;
  if (++state.count < devices_) return {};
  const Status status = store_.Push(key, state.pushed, priority);
  std::ranges::fill(state.pushed, std::span<const float>());
  state.count = 0;
  pushed_.notify_all();
  return status;
}

void SharedModel::PullReq(uint32_t key, int device, std::span<float> value,
                          std::function<void()> callback, int64_t priority) {
  if (!CheckPlace(key, device).ok()) return;  // PullWait says so
  const std::lock_guard lock(mutex_);
  states_[key].requests[static_cast<size_t>(device)] = {
      value, std::move(callback), priority};
}

Status SharedModel::PullWait(uint32_t key, int device) {
  MXC_RT_RETURN_IF_ERROR(CheckPlace(key, device));
  Request request;
  {
    std::unique_lock lock(mutex_);
    KeyState& state = states_[key];
    const auto own = static_cast<size_t>(device);
    pushed_.wait(lock, [&] { return state.pushed[own].empty(); });
    request = std::exchange(state.requests[own], {});
    if (request.value.empty()) return store_.Wait(key);
    const std::span<float> values[] = {request.value};
    MXC_RT_RETURN_IF_ERROR(store_.Pull(key, values, request.priority));
    MXC_RT_RETURN_IF_ERROR(store_.Wait(key));
  }
  if (request.callback) request.callback();
  return {};
}

Status SharedModel::CheckWeight_(uint32_t key, std::span<const float> value) {
  std::vector<float> found(value.size());
  const std::span<float> values[] = {found};
  const std::lock_guard lock(mutex_);
  MXC_RT_RETURN_IF_ERROR(store_.Pull(key, values));
  MXC_RT_RETURN_IF_ERROR(store_.Wait(key));
  if (std::memcmp(found.data(), value.data(), value.size_bytes()) == 0) {
    return {};
  }
  return Fail(StatusCode::kFailed, "key '%s' has another value",
              keys_[key].name.c_str());
}

}  // namespace mxc::kvstore
