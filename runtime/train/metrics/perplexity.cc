// SPDX-License-Identifier: Apache-2.0
// exp of the mean of −ln p[label] (of −Σ label · ln p where labels are distributions),
// p no less than 1e-10. Rows with ignore_label
// do not count. A label that is no class takes the nearest one, as MXNet's
// pick.
#include <algorithm>
#include <cmath>

#include "runtime/train/metrics/classes.h"
#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

class Perplexity : public Metric {
 public:
  explicit Perplexity(ArgumentReader& arguments) : Metric("perplexity") {
    ignores_ = arguments.Read("ignore_label", ignore_label_);
    arguments.Read("axis", axis_);
  }

  Asks asks() const override {
    return axis_ == -1 ? Asks::kProbabilities : Asks::kAsGiven;
  }

  Status Update(const FloatView& label, const FloatView& prediction) override {
    const auto rank = static_cast<int64_t>(prediction.shape.size());
    const int64_t classes = rank == 0 ? 0 : prediction.shape.back();
    if (axis_ != -1 && axis_ != rank - 1) {
      return Fail(StatusCode::kInvalidArgument,
                  "perplexity: axis %lld is not the last one",
                  static_cast<long long>(axis_));
    }
    if (AreDistributions(label, prediction, -1)) {
      return UpdateDistributions(label, prediction);
    }
    const size_t rows = label.values.size();
    if (classes < 1 ||
        prediction.values.size() != rows * static_cast<size_t>(classes)) {
      return ShapesDiffer(label, prediction, name());
    }
    double loss = 0, count = 0;
    for (size_t i = 0; i < rows; ++i) {
      if (ignores_ && static_cast<double>(label.values[i]) == ignore_label_) {
        continue;
      }
      const int64_t k =
          std::clamp<int64_t>(ClassOf(label.values[i]), 0, classes - 1);
      const float p = prediction.values[i * static_cast<size_t>(classes) +
                                        static_cast<size_t>(k)];
      loss -= LogOf(p);
      count += 1;
    }
    Add(loss, count);
    return {};
  }

  double Value() const override { return std::exp(Metric::Value()); }

 private:
  static double LogOf(float p) {
    // max(1e-10, NaN) is NaN in MXNet: a network that has diverged shows.
    return std::log(p < 1e-10f ? 1e-10 : static_cast<double>(p));
  }

  Status UpdateDistributions(const FloatView& label,
                             const FloatView& prediction) {
    double loss = 0;
    for (size_t i = 0; i < label.values.size(); ++i) {
      loss -=
          static_cast<double>(label.values[i]) * LogOf(prediction.values[i]);
    }
    Add(loss, static_cast<double>(label.values.size()) /
                  static_cast<double>(label.shape.back()));
    return {};
  }

  bool ignores_ = false;
  double ignore_label_ = 0;
  int64_t axis_ = -1;
};

}  // namespace

std::unique_ptr<Metric> MakeMetric_perplexity(ArgumentReader& arguments,
                                              const std::string&) {
  return std::make_unique<Perplexity>(arguments);
}

}  // namespace mxc::train
