// SPDX-License-Identifier: Apache-2.0
// Multiplies the rate by `gamma` after every update.
#include <cmath>

#include "runtime/train/schedulers/declarations.h"
#include "runtime/train/schedulers/law.h"

namespace mxc::train {
namespace {

class ExpScheduler : public LawScheduler {
 public:
  explicit ExpScheduler(ArgumentReader& arguments) : LawScheduler(arguments) {
    if (!arguments.Read("gamma", gamma_) || !(gamma_ >= 0)) {
      arguments.Refuse("schedule 'exp' needs a gamma of 0 or more");
    }
  }

 protected:
  double Factor(double updates) const override {
    return std::pow(gamma_, updates);
  }

 private:
  double gamma_ = 1;
};

}  // namespace

std::unique_ptr<Scheduler> MakeScheduler_exp(ArgumentReader& arguments) {
  return std::make_unique<ExpScheduler>(arguments);
}

}  // namespace mxc::train
