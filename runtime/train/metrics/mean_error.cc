// SPDX-License-Identifier: Apache-2.0
// mae, mse and rmse: the mean over a pair, averaged over pairs whatever their
// sizes.
#include <cmath>

#include "runtime/train/metrics/classes.h"
#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

class MeanError : public Metric {
 public:
  enum class Kind { kAbsolute, kSquare, kRootOfSquare };

  MeanError(std::string name, Kind kind)
      : Metric(std::move(name)), kind_(kind) {}

  Status Update(const FloatView& label, const FloatView& prediction) override {
    const size_t count = label.values.size();
    if (count != prediction.values.size() || count == 0) {
      return ShapesDiffer(label, prediction, name());
    }
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
      const double difference = static_cast<double>(label.values[i]) -
                                static_cast<double>(prediction.values[i]);
      sum += kind_ == Kind::kAbsolute ? std::abs(difference)
                                      : difference * difference;
    }
    const double mean = sum / static_cast<double>(count);
    Add(kind_ == Kind::kRootOfSquare ? std::sqrt(mean) : mean, 1);
    return {};
  }

 private:
  Kind kind_;
};

}  // namespace

std::unique_ptr<Metric> MakeMetric_mae(ArgumentReader&,
                                       const std::string& asked) {
  return std::make_unique<MeanError>(asked, MeanError::Kind::kAbsolute);
}

std::unique_ptr<Metric> MakeMetric_mse(ArgumentReader&,
                                       const std::string& asked) {
  return std::make_unique<MeanError>(asked, MeanError::Kind::kSquare);
}

std::unique_ptr<Metric> MakeMetric_rmse(ArgumentReader&,
                                        const std::string& asked) {
  return std::make_unique<MeanError>(asked, MeanError::Kind::kRootOfSquare);
}

}  // namespace mxc::train
