// SPDX-License-Identifier: Apache-2.0
// Matthews' correlation for any number of classes, from the confusion matrix of
// all predictions so far.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/train/metrics/classes.h"
#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

// A confusion matrix of 128 MiB.
constexpr int64_t kMostClasses = 4096;

class ConfusionCorrelation : public Metric {
 public:
  ConfusionCorrelation() : Metric("pcc") { Reset(); }

  Status Update(const FloatView& label, const FloatView& prediction) override {
    const auto predicted = PredictedClasses(label, prediction, 1, name());
    if (!predicted.ok()) return predicted.status();
    const std::vector<int32_t> labels = ClassesOf(label);
    int64_t classes = classes_;
    for (const std::vector<int32_t>* list : {&labels, &*predicted}) {
      for (const int32_t k : *list) {
        if (k < 0 || k >= kMostClasses) {
          return Fail(StatusCode::kInvalidArgument,
                      "pcc: %d is no class from 0 to %lld", k,
                      static_cast<long long>(kMostClasses - 1));
        }
        classes = std::max<int64_t>(classes, k + 1);
      }
    }
    GrowTo(classes);
    for (size_t i = 0; i < labels.size(); ++i) {
      Cell((*predicted)[i], labels[i]) += 1;
    }
    return {};
  }

  double Value() const override;

  void Reset() override {
    classes_ = 0;
    totals_.clear();
  }

  bool Restore(std::span<const double> state) override {
    const auto classes = static_cast<int64_t>(
        std::lround(std::sqrt(static_cast<double>(state.size()))));
    if (classes > kMostClasses ||
        static_cast<size_t>(classes * classes) != state.size()) {
      return false;
    }
    classes_ = classes;
    totals_.assign(state.begin(), state.end());
    return true;
  }

 private:
  double& Cell(int64_t predicted, int64_t label) {
    return totals_[static_cast<size_t>(predicted * classes_ + label)];
  }
  double Cell(int64_t predicted, int64_t label) const {
    return totals_[static_cast<size_t>(predicted * classes_ + label)];
  }

  void GrowTo(int64_t classes) {
    if (classes == classes_) return;
    std::vector<double> grown(static_cast<size_t>(classes * classes), 0);
    for (int64_t p = 0; p < classes_; ++p) {
      std::copy_n(&totals_[static_cast<size_t>(p * classes_)], classes_,
                  &grown[static_cast<size_t>(p * classes)]);
    }
    classes_ = classes;
    totals_ = std::move(grown);
  }

  int64_t classes_ = 0;  // totals_ holds their matrix, predicted × label
};

double ConfusionCorrelation::Value() const {
  double all = 0;
  for (const double cell : totals_) all += cell;
  double predicted_variance = 0, label_variance = 0, covariance = 0;
  for (int64_t k = 0; k < classes_; ++k) {
    double predicted = 0, labels = 0;
    for (int64_t other = 0; other < classes_; ++other) {
      predicted += Cell(k, other);
      labels += Cell(other, k);
    }
    predicted_variance += predicted * (all - predicted);
    label_variance += labels * (all - labels);
    covariance += Cell(k, k) * all - predicted * labels;
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
