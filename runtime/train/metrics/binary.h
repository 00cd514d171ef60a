// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "runtime/train/metric.h"

namespace mxc::train {

// Outcomes of telling class 1 from the rest.
struct BinaryCounts {
  double true_positives = 0, false_positives = 0;
  double false_negatives = 0, true_negatives = 0;

  double Examples() const {
    return true_positives + false_positives + false_negatives + true_negatives;
  }
};

// A score of such outcomes: of each pair on its own and then averaged ('macro')
// or of all outcomes together ('micro').
class BinaryMetric : public Metric {
 public:
  using Score = double (*)(const BinaryCounts& counts);

  BinaryMetric(ArgumentReader& arguments, std::string name, Score score);

  Status Update(const FloatView& label, const FloatView& prediction) override;
  double Value() const override;
  void Reset() override { totals_.assign(6, 0); }

 private:
  Score score_;
  int average_ = 0;  // macro, micro
};

}  // namespace mxc::train
