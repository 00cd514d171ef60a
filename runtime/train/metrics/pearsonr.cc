// SPDX-License-Identifier: Apache-2.0
// Pearson's correlation: of all values so far, or of each pair, averaged
// (average=batch, MXNet's macro). Moments of the pairs are joined as Chan, Golub
// and LeVeque do (Updating Formulae and a Pairwise Algorithm for Computing
// Sample Variances, 1979), which gives what MXNet's micro computes in another
// order: the correlation of all values together.
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

class PearsonCorrelation : public Metric {
 public:
  explicit PearsonCorrelation(ArgumentReader& arguments) : Metric("pearsonr") {
    arguments.Read("average", {"micro", "batch"}, average_);
    Reset();
  }

  Asks asks() const override { return Asks::kValues; }

  Status Update(const FloatView& label, const FloatView& prediction) override {
    if (label.shape != prediction.shape || label.values.empty()) {
      return ShapesDiffer(label, prediction, name());
    }
    const double x = Mean(prediction.values), y = Mean(label.values);
    const double xx = Covariance(prediction.values, x, prediction.values, x);
    const double yy = Covariance(label.values, y, label.values, y);
    const double xy = Covariance(prediction.values, x, label.values, y);
    if (average_ == kBatch) {
      Add(xy / std::sqrt(xx) / std::sqrt(yy), 1);
      return {};
    }
    const auto count = static_cast<double>(label.values.size());
    const double before = totals_[1], all = before + count;
    const double dx = x - totals_[kX], dy = y - totals_[kY];
    const double weight = before * count / all;
    totals_[1] = all;
    totals_[kX] += dx * count / all;
    totals_[kY] += dy * count / all;
    totals_[kXX] += xx + dx * dx * weight;
    totals_[kYY] += yy + dy * dy * weight;
    totals_[kXY] += xy + dx * dy * weight;
    return {};
  }

  double Value() const override {
    if (average_ == kBatch || totals_[1] == 0) return Metric::Value();
    return totals_[kXY] / std::sqrt(totals_[kXX]) / std::sqrt(totals_[kYY]);
  }

  void Reset() override { totals_.assign(kTotals, 0); }

 private:
  enum { kMicro, kBatch };
  // Means, and sums of squares and products of what differs from them.
  enum { kX = 2, kY, kXX, kYY, kXY, kTotals };

  int average_ = kMicro;
};

}  // namespace

std::unique_ptr<Metric> MakeMetric_pearsonr(ArgumentReader& arguments,
                                            const std::string&) {
  return std::make_unique<PearsonCorrelation>(arguments);
}

}  // namespace mxc::train
