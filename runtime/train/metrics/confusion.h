// SPDX-License-Identifier: Apache-2.0
// Which classes were taken for which.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/train/metric.h"

namespace mxc::train {

// How often each class was predicted where each was right; grows with the
// classes that are met. No value of its own.
class ConfusionMatrix : public Metric {
 public:
  explicit ConfusionMatrix(std::string name = "confusion")
      : Metric(std::move(name)) {
    totals_.clear();
  }

  Asks asks() const override { return Asks::kClasses; }
  // Refuses a label that is no class.
  Status Update(const FloatView& label, const FloatView& prediction) override;
  void Reset() override;
  bool Restore(std::span<const double> state) override;

  int64_t classes() const { return classes_; }
  double Count(int64_t label, int64_t predicted) const {
    return totals_[static_cast<size_t>(predicted * classes_ + label)];
  }

 private:
  void GrowTo(int64_t classes);

  int64_t classes_ = 0;  // totals_ holds their matrix, predicted × label
};

}  // namespace mxc::train
