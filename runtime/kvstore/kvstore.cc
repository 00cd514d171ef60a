// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/kvstore.h"

#include <algorithm>
#include <utility>

namespace mxc::kvstore {
namespace {

// All sizes are the key's.
template <class T>
Status CheckArrays(const KeyTable& keys, uint32_t key,
                   std::span<const std::span<T>> arrays) {
  if (key >= keys.size()) {
    return Fail(StatusCode::kInvalidArgument, "there is no key %u", key);
  }
  if (arrays.empty()) {
    return Fail(StatusCode::kInvalidArgument, "key '%s': no array was given",
                keys[key].name.c_str());
  }
  for (const auto& array : arrays) {
    if (array.size() == keys[key].elements()) continue;
    return Fail(
        StatusCode::kInvalidArgument,
        "key '%s' has %llu elements, the array %zu", keys[key].name.c_str(),
        static_cast<unsigned long long>(keys[key].elements()), array.size());
  }
  return {};
}

class LocalStore final : public KVStore {
 public:
  LocalStore(const KeyTable& keys, Shelf& shelf)
      : keys_(keys), shelf_(shelf), has_value_(keys.size()) {}

  Status Init(uint32_t key, std::span<const float> value) override {
    MXC_RT_RETURN_IF_ERROR(CheckArrays(keys_, key, Pushed(&value, 1)));
    if (has_value_[key]) {
      return Fail(StatusCode::kInvalidArgument, "key '%s' has a value already",
                  keys_[key].name.c_str());
    }
    std::ranges::copy(std::as_bytes(value), shelf_.Value(key).begin());
    shelf_.OnWritten(key);
    has_value_[key] = true;
    return {};
  }

  Status Push(uint32_t key, Pushed gradients, int64_t) override {
    MXC_RT_RETURN_IF_ERROR(CheckArrays(keys_, key, gradients));
    MXC_RT_RETURN_IF_ERROR(RequireValue(key));
    if (gradients.size() == 1)
      return shelf_.Update(key, 0, gradients[0], rate_);
    sum_.resize(keys_[key].elements());
    Reduce(gradients, sum_);
    return shelf_.Update(key, 0, sum_, rate_);
  }

  Status Pull(uint32_t key, Pulled values, int64_t) override {
    MXC_RT_RETURN_IF_ERROR(CheckArrays(keys_, key, values));
    MXC_RT_RETURN_IF_ERROR(RequireValue(key));
    for (const auto& value : values) {
      std::ranges::copy(shelf_.Value(key),
                        std::as_writable_bytes(value).begin());
    }
    return {};
  }

  Status Wait(uint32_t) override { return {}; }

 private:
  Status RequireValue(uint32_t key) const {
    if (has_value_[key]) return {};
    return Fail(StatusCode::kInvalidArgument, "key '%s' has no value yet",
                keys_[key].name.c_str());
  }

  const KeyTable& keys_;
  Shelf& shelf_;
  std::vector<bool> has_value_;
  std::vector<float> sum_;
};

class JobStore final : public KVStore {
 public:
  JobStore(const KeyTable& keys, Worker& worker)
      : keys_(keys), worker_(worker), states_(keys.size()) {}

  Status Init(uint32_t key, std::span<const float> value) override {
    MXC_RT_RETURN_IF_ERROR(CheckArrays(keys_, key, Pushed(&value, 1)));
    worker_.Init(key, std::as_bytes(value));
    return worker_.Wait(key);
  }

  // A push waits for the one before it.
  Status Push(uint32_t key, Pushed gradients, int64_t priority) override {
    MXC_RT_RETURN_IF_ERROR(CheckArrays(keys_, key, gradients));
    MXC_RT_RETURN_IF_ERROR(Wait(key));
    std::span<const float> gradient = gradients[0];
    if (gradients.size() > 1) {
      std::vector<float>& sum = states_[key].sum;
      sum.resize(keys_[key].elements());
      Reduce(gradients, sum);
      gradient = sum;
    }
    worker_.Push(key, gradient, rate_, priority);
    return {};
  }

  // The first device's comes from the server, the others are copies.
  Status Pull(uint32_t key, Pulled values, int64_t priority) override {
    MXC_RT_RETURN_IF_ERROR(CheckArrays(keys_, key, values));
    State& state = states_[key];
    if (!state.outs.empty()) MXC_RT_RETURN_IF_ERROR(Wait(key));
    state.outs.assign(values.begin(), values.end());
    worker_.Pull(key, std::as_writable_bytes(values[0]), priority);
    return {};
  }

  Status Wait(uint32_t key) override {
    MXC_RT_RETURN_IF_ERROR(worker_.Wait(key));
    const auto outs = std::exchange(states_[key].outs, {});
    for (size_t i = 1; i < outs.size(); ++i) {
      std::ranges::copy(outs[0], outs[i].begin());
    }
    return {};
  }

 private:
  struct State {
    std::vector<float> sum;  // of what the devices push
    std::vector<std::span<float>> outs;
  };

  const KeyTable& keys_;
  Worker& worker_;
  std::vector<State> states_;
};

}  // namespace

void Reduce(Pushed arrays, std::span<float> sum) {
  constexpr size_t kGroup = 4;
  std::ranges::copy(arrays[0], sum.begin());
  for (size_t first = 1; first < arrays.size(); first += kGroup) {
    const auto group =
        arrays.subspan(first, std::min(kGroup, arrays.size() - first));
    for (size_t i = 0; i < sum.size(); ++i) {
      float part = group[0][i];
      for (const auto& array : group.subspan(1)) part += array[i];
      sum[i] += part;
    }
  }
}

bool IsLocal(std::string_view name) {
  return name == "local" || name == "device" || name == "local_update_cpu" ||
         name == "local_allreduce_cpu" || name == "local_allreduce_device";
}

std::unique_ptr<KVStore> MakeLocalStore(const KeyTable& keys, Shelf& shelf) {
  return std::make_unique<LocalStore>(keys, shelf);
}

std::unique_ptr<KVStore> MakeJobStore(const KeyTable& keys, Worker& worker) {
  return std::make_unique<JobStore>(keys, worker);
}

}  // namespace mxc::kvstore
