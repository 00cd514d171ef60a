// SPDX-License-Identifier: Apache-2.0
// mae, mse and rmse: the mean over all elements; with average=batch the mean over
// a pair, averaged over pairs whatever their sizes, as MXNet has it.
#include <cmath>

#include "runtime/train/metrics/classes.h"
#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

class MeanError : public Metric {
 public:
  enum class Kind { kAbsolute, kSquare, kRootOfSquare };

  MeanError(ArgumentReader& arguments, std::string name, Kind kind)
      : Metric(std::move(name)), kind_(kind) {
    arguments.Read("average", {"micro", "batch"}, average_);
  }

  Asks asks() const override { return Asks::kValues; }

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
    if (average_ == kMicro) {
      Add(sum, static_cast<double>(count));
    } else {
      Add(Finished(sum / static_cast<double>(count)), 1);
    }
    return {};
  }

  double Value() const override {
    const double mean = Metric::Value();
    return average_ == kMicro ? Finished(mean) : mean;
  }

 private:
  enum { kMicro, kBatch };

  double Finished(double mean) const {
    return kind_ == Kind::kRootOfSquare ? std::sqrt(mean) : mean;
  }

  Kind kind_;
  int average_ = kMicro;
};

}  // namespace

std::unique_ptr<Metric> MakeMetric_mae(ArgumentReader& arguments,
                                       const std::string& asked) {
  return std::make_unique<MeanError>(arguments, asked,
                                     MeanError::Kind::kAbsolute);
}

std::unique_ptr<Metric> MakeMetric_mse(ArgumentReader& arguments,
                                       const std::string& asked) {
  return std::make_unique<MeanError>(arguments, asked,
                                     MeanError::Kind::kSquare);
}

std::unique_ptr<Metric> MakeMetric_rmse(ArgumentReader& arguments,
                                        const std::string& asked) {
  return std::make_unique<MeanError>(arguments, asked,
                                     MeanError::Kind::kRootOfSquare);
}

}  // namespace mxc::train
