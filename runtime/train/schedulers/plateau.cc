// SPDX-License-Identifier: Apache-2.0
// Multiplies the rate by `factor` after more than `patience` epochs in a row whose
// loss (of the validation, where there is one) was not below the best by the
// share `threshold` of it, but not below min_lr: PyTorch's ReduceLROnPlateau.
#include <algorithm>
#include <limits>

#include "runtime/train/schedulers/declarations.h"

namespace mxc::train {
namespace {

class PlateauScheduler : public Scheduler {
 public:
  explicit PlateauScheduler(ArgumentReader& arguments) : Scheduler(arguments) {
    arguments.Read("factor", factor_);
    arguments.Read("patience", patience_);
    arguments.Read("threshold", threshold_);
    arguments.Read("min_lr", least_);
    if (!(factor_ > 0 && factor_ < 1)) {
      arguments.Refuse("schedule 'plateau': the factor is between 0 and 1");
    }
    if (patience_ < 0) {
      arguments.Refuse("schedule 'plateau': patience must not be negative");
    }
  }

  bool NeedsEpochs() const override { return true; }

  void OnEpoch(double loss) override {
    if (loss < best_ * (1 - threshold_)) {
      best_ = loss;
      worse_ = 0;
    } else if (++worse_ > patience_) {
      rate_ = std::max(rate_ * factor_, std::min(rate_, least_));
      worse_ = 0;
    }
  }

  std::vector<double> State() const override {
    return {rate_, best_, static_cast<double>(worse_)};
  }
  bool Restore(std::span<const double> state) override {
    if (state.size() != 3 || !(state[2] >= 0 && state[2] < 0x1p53)) {
      return false;
    }
    rate_ = state[0];
    best_ = state[1];
    worse_ = static_cast<int64_t>(state[2]);
    return true;
  }

 protected:
  void Advance(int64_t) override {}

 private:
  double factor_ = 0.1, threshold_ = 1e-4, least_ = 0;
  int64_t patience_ = 10;
  // Finite, so that it survives a checkpoint's text.
  double best_ = std::numeric_limits<double>::max();
  int64_t worse_ = 0;  // epochs since then
};

}  // namespace

std::unique_ptr<Scheduler> MakeScheduler_plateau(ArgumentReader& arguments) {
  return std::make_unique<PlateauScheduler>(arguments);
}

}  // namespace mxc::train
