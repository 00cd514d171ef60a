// SPDX-License-Identifier: Apache-2.0
// The mean of the predictions themselves, for networks that end in a loss.
#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

class Loss : public Metric {
 public:
  using Metric::Metric;

  Asks asks() const override { return Asks::kOutputs; }
  bool needs_labels() const override { return false; }

  Status Update(const FloatView&, const FloatView& prediction) override {
    double sum = 0;
    for (const float v : prediction.values) sum += static_cast<double>(v);
    Add(sum, static_cast<double>(prediction.values.size()));
    return {};
  }
};

}  // namespace

std::unique_ptr<Metric> MakeMetric_loss(ArgumentReader&,
                                        const std::string& asked) {
  return std::make_unique<Loss>(asked);
}

}  // namespace mxc::train
