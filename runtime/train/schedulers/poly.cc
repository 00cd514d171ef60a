// SPDX-License-Identifier: Apache-2.0
// Decays as the `pwr`-th power of the part that is left.
#include <cmath>

#include "runtime/train/schedulers/decay.h"
#include "runtime/train/schedulers/declarations.h"

namespace mxc::train {
namespace {

class PolyScheduler : public DecayScheduler {
 public:
  explicit PolyScheduler(ArgumentReader& arguments)
      : DecayScheduler(arguments) {
    arguments.Read("pwr", power_);
  }

 protected:
  double Scale(double span, double done, double all) const override {
    return span * std::pow(1 - done / all, power_);
  }

 private:
  double power_ = 2;
};

}  // namespace

std::unique_ptr<Scheduler> MakeScheduler_poly(ArgumentReader& arguments) {
  return std::make_unique<PolyScheduler>(arguments);
}

}  // namespace mxc::train
