// SPDX-License-Identifier: Apache-2.0
// The share of labels that the largest prediction names.
#include "runtime/train/metrics/classes.h"
#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

class Accuracy : public Metric {
 public:
  explicit Accuracy(ArgumentReader& arguments) : Metric("accuracy") {
    has_axis_ = arguments.Read("axis", axis_);
  }

  Asks asks() const override {
    return has_axis_ ? Asks::kAsGiven : Asks::kClasses;
  }

  Status Update(const FloatView& label, const FloatView& prediction) override {
    const auto predicted = PredictedClasses(label, prediction, axis_, name());
    if (!predicted.ok()) return predicted.status();
    const auto labels = LabelClasses(label, prediction, axis_, name());
    if (!labels.ok()) return labels.status();
    int64_t matches = 0;
    for (size_t i = 0; i < predicted->size(); ++i) {
      matches += (*predicted)[i] == (*labels)[i];
    }
    Add(static_cast<double>(matches), static_cast<double>(predicted->size()));
    return {};
  }

 private:
  int64_t axis_ = 1;
  bool has_axis_ = false;
};

}  // namespace

std::unique_ptr<Metric> MakeMetric_accuracy(ArgumentReader& arguments,
                                            const std::string&) {
  return std::make_unique<Accuracy>(arguments);
}

}  // namespace mxc::train
