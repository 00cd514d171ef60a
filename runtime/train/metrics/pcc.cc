// SPDX-License-Identifier: Apache-2.0
// Matthews' correlation for any number of classes, from the confusion matrix of
// all predictions so far.
#include <cmath>
#include <limits>

#include "runtime/train/metrics/confusion.h"
#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

class ConfusionCorrelation : public ConfusionMatrix {
 public:
  ConfusionCorrelation() : ConfusionMatrix("pcc") {}

  double Value() const override;
};

double ConfusionCorrelation::Value() const {
  double all = 0;
  for (const double cell : totals_) all += cell;
  double predicted_variance = 0, label_variance = 0, covariance = 0;
  for (int64_t k = 0; k < classes(); ++k) {
    double predicted = 0, labels = 0;
    for (int64_t other = 0; other < classes(); ++other) {
      predicted += Count(other, k);
      labels += Count(k, other);
    }
    predicted_variance += predicted * (all - predicted);
    label_variance += labels * (all - labels);
    covariance += Count(k, k) * all - predicted * labels;
  }
  if (predicted_variance == 0 || label_variance == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return covariance / std::sqrt(predicted_variance * label_variance);
}

}  // namespace

std::unique_ptr<Metric> MakeMetric_pcc(ArgumentReader&, const std::string&) {
  return std::make_unique<ConfusionCorrelation>();
}

}  // namespace mxc::train
