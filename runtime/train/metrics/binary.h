// SPDX-License-Identifier: Apache-2.0
// Counts outcomes of a binary classification, for F1, MCC and what else scores
// them.
#pragma once

#include <span>
#include <string>

#include "runtime/train/metric.h"

namespace mxc::train {

// Outcomes of telling one class from the rest.
struct BinaryCounts {
  double true_positives = 0, false_positives = 0;
  double false_negatives = 0, true_negatives = 0;

  double Examples() const {
    return true_positives + false_positives + false_negatives + true_negatives;
  }
};

// A score of such outcomes: of class 1 of two, of all samples ('micro') or the
// mean over the batches ('batch'); the mean over all classes that there are in
// labels or predictions ('macro').
class BinaryMetric : public Metric {
 public:
  using Score = double (*)(const BinaryCounts& counts);

  BinaryMetric(ArgumentReader& arguments, std::string name, Score score);

  Asks asks() const override { return Asks::kClasses; }
  Status RequireClasses(int64_t classes) const override;
  Status Update(const FloatView& label, const FloatView& prediction) override;
  double Value() const override;
  void Reset() override;
  bool Restore(std::span<const double> state) override;

 private:
  enum { kMicro, kMacro, kBatch };

  Status Count(const FloatView& label, std::span<const int32_t> labels,
               std::span<const int32_t> predicted);
  double MeanOverClasses() const;

  Score score_;
  int average_ = kMicro;
};

}  // namespace mxc::train
