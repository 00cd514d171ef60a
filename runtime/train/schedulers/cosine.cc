// SPDX-License-Identifier: Apache-2.0
// Decays along half a wave of the cosine.
#include <cmath>
#include <numbers>

#include "runtime/train/schedulers/decay.h"
#include "runtime/train/schedulers/declarations.h"

namespace mxc::train {
namespace {

class CosineScheduler : public DecayScheduler {
 public:
  using DecayScheduler::DecayScheduler;

 protected:
  double Scale(double span, double done, double all) const override {
    return span * (1 + std::cos(std::numbers::pi * done / all)) / 2;
  }
};

}  // namespace

std::unique_ptr<Scheduler> MakeScheduler_cosine(ArgumentReader& arguments) {
  return std::make_unique<CosineScheduler>(arguments);
}

}  // namespace mxc::train
