// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/collective/reducing_store.h"

#include <algorithm>
#include <utility>

#include "runtime/kvstore/check_arrays.h"

namespace mxc::kvstore {
namespace {

class ReducingStore final : public KVStore {
 public:
  ReducingStore(const KeyTable& keys, Shelf& shelf, Worker& worker,
                std::unique_ptr<AllReduce> all_reduce, float share)
      : keys_(keys),
        shelf_(shelf),
        worker_(worker),
        all_reduce_(std::move(all_reduce)),
        share_(share),
        states_(keys.size()) {}

  Status Init(uint32_t key, std::span<const float> value) override {
    MXC_RT_RETURN_IF_ERROR(CheckArrays(keys_, key, Pushed(&value, 1)));
    worker_.Init(key, std::as_bytes(value));
    return worker_.Wait(key);
  }

  // A push waits for the one before it.
  Status Push(uint32_t key, Pushed gradients, int64_t) override {
    MXC_RT_RETURN_IF_ERROR(CheckGradients(keys_, key, gradients));
    MXC_RT_RETURN_IF_ERROR(Wait(key));
    MXC_RT_RETURN_IF_ERROR(AwaitValue(key));
    State& state = states_[key];
    state.sum.resize(keys_[key].elements());
    Reduce(gradients, state.sum);
    state.rate = rate_;
    all_reduce_->Begin(state.sum);
    state.sums = all_reduce_->begun();
    return {};
  }

  Status Pull(uint32_t key, Pulled values, int64_t) override {
    MXC_RT_RETURN_IF_ERROR(CheckArrays(keys_, key, values));
    State& state = states_[key];
    if (!state.outs.empty()) MXC_RT_RETURN_IF_ERROR(Wait(key));
    MXC_RT_RETURN_IF_ERROR(AwaitValue(key));
    state.outs.assign(values.begin(), values.end());
    return {};
  }

  Status PushRows(uint32_t key, std::span<const Rows> gradients,
                  int64_t) override {
    return CheckRows(keys_, key, gradients);
  }
  Status PullRows(uint32_t key, std::span<const WantedRows> values,
                  int64_t) override {
    return CheckRows(keys_, key, values);
  }

  Status Wait(uint32_t key) override {
    State& state = states_[key];
    if (state.sums > 0) {
      MXC_RT_RETURN_IF_ERROR(all_reduce_->Wait(state.sums));
      state.sums = 0;
      for (float& value : state.sum) value *= share_;
      MXC_RT_RETURN_IF_ERROR(shelf_.Update(key, 0, state.sum, state.rate));
    }
    for (const auto& out : std::exchange(state.outs, {})) {
      CopyBytes(shelf_.Value(key), std::as_writable_bytes(out));
    }
    return {};
  }

 private:
  struct State {
    bool has_value = false;
    std::vector<float> sum;  // of this worker's devices, then of all workers
    uint64_t sums = 0;       // once so many are there it is one; 0: it is not
    double rate = 1;
    std::vector<std::span<float>> outs;
  };

  // The first one, which one worker gives.
  Status AwaitValue(uint32_t key) {
    if (std::exchange(states_[key].has_value, true)) return {};
    worker_.Pull(key, shelf_.Value(key));
    MXC_RT_RETURN_IF_ERROR(worker_.Wait(key));
    shelf_.OnWritten(key);
    return {};
  }

  const KeyTable& keys_;
  Shelf& shelf_;
  Worker& worker_;
  const std::unique_ptr<AllReduce> all_reduce_;
  const float share_;
  std::vector<State> states_;
};

}  // namespace

std::unique_ptr<KVStore> MakeReducingStore(
    const KeyTable& keys, Shelf& shelf, Worker& worker,
    std::unique_ptr<AllReduce> all_reduce, float share) {
  return std::make_unique<ReducingStore>(keys, shelf, worker,
                                         std::move(all_reduce), share);
}

}  // namespace mxc::kvstore
