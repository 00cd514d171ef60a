// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/averaging.h"

#include <algorithm>

namespace mxc::kvstore {
namespace {

using Rule = Averaging::Rule;

std::span<float> Floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

class AveragingShelf final : public Shelf {
 public:
  AveragingShelf(const KeyTable& keys, const Averaging& averaging)
      : averaging_(averaging), speeds_(keys.size()) {
    for (const KeySpec& key : keys) values_.emplace_back(key.bytes);
    if (averaging.rule != Rule::kBlockMomentum) return;
    for (size_t key = 0; key < keys.size(); ++key) {
      if (!keys[key].trained) continue;
      const auto speed = std::ranges::find_if(keys, [&](const KeySpec& other) {
        return !other.trained && other.group == keys[key].group;
      });
      speeds_[key] = static_cast<size_t>(speed - keys.begin());
      if (speed != keys.end()) continue;  // nobody reads it
      speeds_[key] = values_.size();
      values_.emplace_back(keys[key].bytes);
    }
  }

  std::span<std::byte> Value(uint32_t key) override { return values_[key]; }
  void OnWritten(uint32_t) override {}
  std::vector<std::span<std::byte>> Kept(uint32_t key, uint64_t) override {
    if (speeds_[key] == 0) return {values_[key]};
    return {values_[key], values_[speeds_[key]]};
  }

  Status Update(uint32_t key, uint64_t first, std::span<const float> sum,
                double) override {
    const auto value = Floats(values_[key]).subspan(first);
    if (averaging_.rule == Rule::kElastic) {
      for (size_t i = 0; i < sum.size(); ++i) value[i] += sum[i];
      return {};
    }
    const auto momentum = static_cast<float>(averaging_.momentum);
    const auto rate =
        static_cast<float>((1 - averaging_.momentum) * averaging_.rate);
    const auto speed = Floats(values_[speeds_[key]]).subspan(first);
    for (size_t i = 0; i < sum.size(); ++i) {
      speed[i] = momentum * speed[i] + rate * sum[i];
      value[i] -= speed[i];
    }
    return {};
  }

 private:
  const Averaging averaging_;
  std::vector<std::vector<std::byte>> values_;  // of keys; perhaps speeds
  // Of a trained key of block momentum: where in values_ its s lies; else 0,
  // where a parameter does.
  std::vector<size_t> speeds_;
};

}  // namespace

StatusOr<Averaging> Averaging::For(uint32_t workers) const {
  Averaging made = *this;
  if (made.alpha == 0) made.alpha = 0.9 / workers;
  if (made.momentum < 0) made.momentum = 1 - 1.0 / workers;
  if (made.period == 0 || !(made.momentum < 1) || !(made.rate > 0)) {
    return Fail(StatusCode::kInvalidArgument,
                "workers meet after a positive number of steps, with a "
                "momentum below 1 and a rate above 0; found %u, %g and %g",
                made.period, made.momentum, made.rate);
  }
  // A meeting multiplies how far the mean is from the center by 1 − α·(N + 1).
  const double bound = 2.0 / (workers + 1);
  if (rule == Rule::kElastic && !(made.alpha > 0 && made.alpha < bound)) {
    return Fail(StatusCode::kInvalidArgument,
                "elastic averaging of %u workers with alpha %g does not "
                "settle; expected one above 0 and below %g",
                workers, made.alpha, bound);
  }
  return made;
}

std::string Averaging::text() const {
  if (rule == Rule::kElastic) {
    return Format("allreduce_ea every %u steps, alpha %.9g", period, alpha);
  }
  return Format("block_momentum every %u steps, momentum %.9g, rate %.9g",
                period, momentum, rate);
}

std::unique_ptr<Shelf> MakeAveragingShelf(const KeyTable& keys,
                                          const Averaging& averaging) {
  return std::make_unique<AveragingShelf>(keys, averaging);
}

void Meet(const Averaging& averaging, std::span<float> own,
          std::span<const float> common, std::span<float> push) {
  if (averaging.rule == Rule::kBlockMomentum) {
    for (size_t i = 0; i < own.size(); ++i) push[i] = common[i] - own[i];
    return;
  }
  const auto alpha = static_cast<float>(averaging.alpha);
  for (size_t i = 0; i < own.size(); ++i) {
    push[i] = alpha * (own[i] - common[i]);
    own[i] -= push[i];
  }
}

}  // namespace mxc::kvstore
