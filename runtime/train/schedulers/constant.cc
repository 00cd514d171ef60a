// SPDX-License-Identifier: Apache-2.0
// The same rate for every update after the warm-up.
#include "runtime/train/schedulers/declarations.h"

namespace mxc::train {
namespace {

class ConstantScheduler : public Scheduler {
 public:
  using Scheduler::Scheduler;

 protected:
  void Advance(int64_t) override {}
};

}  // namespace

std::unique_ptr<Scheduler> MakeScheduler_constant(ArgumentReader& arguments) {
  return std::make_unique<ConstantScheduler>(arguments);
}

}  // namespace mxc::train
