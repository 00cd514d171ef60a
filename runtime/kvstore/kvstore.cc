// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/kvstore.h"

#include <algorithm>
#include <utility>

#include "runtime/kvstore/check_arrays.h"

namespace mxc::kvstore {
namespace {

std::vector<uint64_t> AllOf(std::span<const WantedRows> wanted) {
  std::vector<std::span<const uint64_t>> numbers;
  for (const WantedRows& rows : wanted) numbers.push_back(rows.numbers);
  return Merge(numbers);
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
    CopyBytes(std::as_bytes(value), shelf_.Value(key));
    shelf_.OnWritten(key);
    has_value_[key] = true;
    return {};
  }

  Status Push(uint32_t key, Pushed gradients, int64_t) override {
    MXC_RT_RETURN_IF_ERROR(CheckGradients(keys_, key, gradients));
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
      CopyBytes(shelf_.Value(key), std::as_writable_bytes(value));
    }
    return {};
  }

  Status PushRows(uint32_t key, std::span<const Rows> gradients,
                  int64_t) override {
    MXC_RT_RETURN_IF_ERROR(CheckRows(keys_, key, gradients));
    MXC_RT_RETURN_IF_ERROR(RequireValue(key));
    return shelf_.UpdateRows(key, Merge(gradients, keys_[key].width), rate_);
  }

  Status PullRows(uint32_t key, std::span<const WantedRows> values,
                  int64_t) override {
    MXC_RT_RETURN_IF_ERROR(CheckRows(keys_, key, values));
    MXC_RT_RETURN_IF_ERROR(RequireValue(key));
    const size_t row = keys_[key].width * sizeof(float);
    for (const auto& [numbers, elements] : values) {
      auto to = std::as_writable_bytes(elements);
      for (const uint64_t number : numbers) {
        CopyBytes(shelf_.Value(key).subspan(number * row, row), to);
        to = to.subspan(row);
      }
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
    MXC_RT_RETURN_IF_ERROR(CheckGradients(keys_, key, gradients));
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
    if (state.pulls()) MXC_RT_RETURN_IF_ERROR(Wait(key));
    state.outs.assign(values.begin(), values.end());
    worker_.Pull(key, std::as_writable_bytes(values[0]), priority);
    return {};
  }

  Status PushRows(uint32_t key, std::span<const Rows> gradients,
                  int64_t priority) override {
    MXC_RT_RETURN_IF_ERROR(CheckRows(keys_, key, gradients));
    MXC_RT_RETURN_IF_ERROR(Wait(key));
    worker_.PushRows(key, Merge(gradients, keys_[key].width), rate_, priority);
    return {};
  }

  // A row comes once, whoever wants it.
  Status PullRows(uint32_t key, std::span<const WantedRows> values,
                  int64_t priority) override {
    MXC_RT_RETURN_IF_ERROR(CheckRows(keys_, key, values));
    State& state = states_[key];
    if (state.pulls()) MXC_RT_RETURN_IF_ERROR(Wait(key));
    state.rows.numbers = AllOf(values);
    state.rows.elements.resize(state.rows.numbers.size() * keys_[key].width);
    for (const auto& [numbers, elements] : values) {
      state.row_outs.push_back({{numbers.begin(), numbers.end()}, elements});
    }
    worker_.PullRows(key, state.rows.numbers, state.rows.elements, priority);
    return {};
  }

  Status Wait(uint32_t key) override {
    State& state = states_[key];
    MXC_RT_RETURN_IF_ERROR(worker_.Wait(key));
    const auto outs = std::exchange(state.outs, {});
    for (size_t i = 1; i < outs.size(); ++i) {
      CopyBytes(std::as_bytes(outs[0]), std::as_writable_bytes(outs[i]));
    }
    for (const RowsOut& out : std::exchange(state.row_outs, {})) {
      Scatter(state.rows, out.numbers, keys_[key].width, out.elements);
    }
    return {};
  }

 private:
  struct RowsOut {
    std::vector<uint64_t> numbers;
    std::span<float> elements;
  };
  struct State {
    std::vector<float> sum;              // of what the devices push
    std::vector<std::span<float>> outs;  // where what is pulled belongs
    OwnRows rows;                        // that are pulled, each once
    std::vector<RowsOut> row_outs;

    bool pulls() const { return !outs.empty() || !row_outs.empty(); }
  };

  const KeyTable& keys_;
  Worker& worker_;
  std::vector<State> states_;
};

}  // namespace

void Reduce(Pushed arrays, std::span<float> sum) {
  constexpr size_t kGroup = 4;
  CopyBytes(std::as_bytes(arrays[0]), std::as_writable_bytes(sum));
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
