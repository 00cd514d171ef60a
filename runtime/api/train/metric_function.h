// SPDX-License-Identifier: Apache-2.0
// A metric whose value a function of mxc_train.h computes.
#pragma once

#include "runtime/mxc_train.h"
#include "runtime/train/metric.h"

namespace mxc::fit {

// The mean over samples, each batch counting with its own.
class FunctionMetric final : public train::Metric {
 public:
  explicit FunctionMetric(const mxc_metric_function& function)
      : Metric(function.name), function_(function) {}

  train::Status Update(const train::FloatView& label,
                       const train::FloatView& prediction) override {
    const mxc_floats label_given = ToC(label), output = ToC(prediction);
    const double value =
        function_.value(function_.user_data, &label_given, &output);
    const double rows =
        prediction.shape.empty() ? 1 : static_cast<double>(prediction.shape[0]);
    Add(value * rows, rows);
    return {};
  }

 private:
  static mxc_floats ToC(const train::FloatView& view) {
    return {view.values.data(), view.shape.data(), view.shape.size()};
  }

  const mxc_metric_function function_;
};

}  // namespace mxc::fit
