// SPDX-License-Identifier: Apache-2.0
// Pearson's correlation: of each pair, averaged ('macro'), or of all values so
// far ('micro'), where MXNet's running sums are kept as they are: exact for the
// first pair, an approximation from the second on.
#include <cmath>

#include "runtime/train/metrics/classes.h"
#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

double Mean(std::span<const float> values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v);
  return sum / static_cast<double>(values.size());
}

double Covariance(std::span<const float> a, double a_mean,
                  std::span<const float> b, double b_mean) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += (static_cast<double>(a[i]) - a_mean) *
           (static_cast<double>(b[i]) - b_mean);
  }
  return sum;
}

double Correlation(std::span<const float> a, std::span<const float> b) {
  const double a_mean = Mean(a), b_mean = Mean(b);
  return Covariance(a, a_mean, b, b_mean) /
         std::sqrt(Covariance(a, a_mean, a, a_mean)) /
         std::sqrt(Covariance(b, b_mean, b, b_mean));
}

class PearsonCorrelation : public Metric {
 public:
  explicit PearsonCorrelation(ArgumentReader& arguments) : Metric("pearsonr") {
    arguments.Read("average", {"macro", "micro"}, average_);
    Reset();
  }

  Status Update(const FloatView& label, const FloatView& prediction) override {
    if (label.shape != prediction.shape || label.values.empty()) {
      return ShapesDiffer(label, prediction, name());
    }
    if (average_ == 0) {
      Add(Correlation(prediction.values, label.values), 1);
      return {};
    }
    Add(0, 1);
    totals_[kValues] += static_cast<double>(label.values.size());
    AddVariance(label.values, kLabelMean, kLabelSquares);
    // Between the two: the label's new mean, the prediction's former one.
    totals_[kProducts] += Covariance(label.values, totals_[kLabelMean],
                                     prediction.values, totals_[kMean]);
    AddVariance(prediction.values, kMean, kSquares);
    return {};
  }

  double Value() const override {
    if (average_ == 0 || totals_[1] == 0) return Metric::Value();
    return totals_[kProducts] / std::sqrt(totals_[kSquares]) /
           std::sqrt(totals_[kLabelSquares]);
  }

  void Reset() override { totals_.assign(kTotals, 0); }

 private:
  enum { kValues = 2, kMean, kSquares, kLabelMean, kLabelSquares, kProducts };
  static constexpr size_t kTotals = kProducts + 1;

  void AddVariance(std::span<const float> values, size_t mean, size_t squares) {
    const double before = totals_[mean];
    totals_[mean] += static_cast<double>(values.size()) *
                     (Mean(values) - before) / totals_[kValues];
    totals_[squares] += Covariance(values, before, values, totals_[mean]);
  }

  int average_ = 0;  // macro, micro
};

}  // namespace

std::unique_ptr<Metric> MakeMetric_pearsonr(ArgumentReader& arguments,
                                            const std::string&) {
  return std::make_unique<PearsonCorrelation>(arguments);
}

}  // namespace mxc::train
