// SPDX-License-Identifier: Apache-2.0
// Multiplies the rate by 1 / (1 + exp(-gamma · (updates - step))).
#include <cmath>

#include "runtime/train/schedulers/declarations.h"
#include "runtime/train/schedulers/law.h"

namespace mxc::train {
namespace {

class SigmoidScheduler : public LawScheduler {
 public:
  explicit SigmoidScheduler(ArgumentReader& arguments)
      : LawScheduler(arguments) {
    if (!arguments.Read("gamma", gamma_)) {
      arguments.Refuse("schedule 'sigmoid' needs a gamma");
    }
    if (!arguments.Read("step", step_)) {
      arguments.Refuse("schedule 'sigmoid' needs a step");
    }
  }

 protected:
  double Factor(double updates) const override {
    return 1 / (1 + std::exp(-gamma_ * (updates - static_cast<double>(step_))));
  }

 private:
  double gamma_ = 0;
  int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<Scheduler> MakeScheduler_sigmoid(ArgumentReader& arguments) {
  return std::make_unique<SigmoidScheduler>(arguments);
}

}  // namespace mxc::train
