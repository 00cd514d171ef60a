// SPDX-License-Identifier: Apache-2.0
// Divides the rate by (1 + gamma · updates)^power.
#include <cmath>

#include "runtime/train/schedulers/declarations.h"
#include "runtime/train/schedulers/law.h"

namespace mxc::train {
namespace {

class InvScheduler : public LawScheduler {
 public:
  explicit InvScheduler(ArgumentReader& arguments) : LawScheduler(arguments) {
    if (!arguments.Read("gamma", gamma_) || !(gamma_ >= 0)) {
      arguments.Refuse("schedule 'inv' needs a gamma of 0 or more");
    }
    if (!arguments.Read("power", power_)) {
      arguments.Refuse("schedule 'inv' needs a power");
    }
  }

 protected:
  double Factor(double updates) const override {
    return std::pow(1 + gamma_ * updates, -power_);
  }

 private:
  double gamma_ = 0, power_ = 0;
};

}  // namespace

std::unique_ptr<Scheduler> MakeScheduler_inv(ArgumentReader& arguments) {
  return std::make_unique<InvScheduler>(arguments);
}

}  // namespace mxc::train
