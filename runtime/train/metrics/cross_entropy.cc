// SPDX-License-Identifier: Apache-2.0
// cross-entropy and nll_loss: the mean of −ln(p[label] + eps), or of
// −Σ label · ln(p + eps) where labels are distributions, too.
#include <cmath>

#include "runtime/train/metrics/classes.h"
#include "runtime/train/metrics/declarations.h"

namespace mxc::train {
namespace {

class CrossEntropy : public Metric {
 public:
  CrossEntropy(ArgumentReader& arguments, std::string name)
      : Metric(std::move(name)) {
    arguments.Read("eps", eps_);
  }

  Asks asks() const override { return Asks::kProbabilities; }

  Status Update(const FloatView& label, const FloatView& prediction) override {
    if (AreDistributions(label, prediction, -1)) {
      double sum = 0;
      for (size_t i = 0; i < label.values.size(); ++i) {
        sum -= static_cast<double>(label.values[i]) *
               std::log(static_cast<double>(prediction.values[i]) + eps_);
      }
      Add(sum, static_cast<double>(label.values.size()) /
                   static_cast<double>(label.shape.back()));
      return {};
    }
    const auto picked = PickByLabel(label, prediction, name());
    if (!picked.ok()) return picked.status();
    double sum = 0;
    for (const float p : *picked) {
      sum -= std::log(static_cast<double>(p) + eps_);
    }
    Add(sum, static_cast<double>(picked->size()));
    return {};
  }

 private:
  double eps_ = 1e-12;
};

}  // namespace

std::unique_ptr<Metric> MakeMetric_cross_entropy(ArgumentReader& arguments,
                                                 const std::string&) {
  return std::make_unique<CrossEntropy>(arguments, "cross-entropy");
}

std::unique_ptr<Metric> MakeMetric_nll_loss(ArgumentReader& arguments,
                                            const std::string&) {
  return std::make_unique<CrossEntropy>(arguments, "nll-loss");
}

}  // namespace mxc::train
