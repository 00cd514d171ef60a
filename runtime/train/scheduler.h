// SPDX-License-Identifier: Apache-2.0
// Learning rates as a function of the number of updates: MXNet's schedulers
// (MXNet 1.9.1 python/mxnet/lr_scheduler.py), to the last bit.
//
//   factor       step, factor=1, stop_factor_lr=1e-8
//   multifactor  step=A,B,C, factor=1
//   poly         max_update, pwr=2, final_lr=0, first=1
//   cosine       max_update, final_lr=0, first=1
//   constant
// and PyTorch's
//   onecycle     max_update, pct_start=0.3, div_factor=25, final_div_factor=1e4
//   plateau      factor=0.1, patience=10, threshold=1e-4, min_lr=0
// and Caffe's
//   exp          gamma
//   inv          gamma, power
//   sigmoid      gamma, step
// whose poly counts updates from first=0.
//
// All take base_lr=0.01, warmup_steps=0, warmup_begin_lr=0 and
// warmup_mode=linear|constant:  multifactor:step=100,200:factor=0.1
// Where the run's length is known max_update is it by default, and warmup_epochs
// stands for warmup_steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/train/specification.h"
#include "runtime/train/status.h"

namespace mxc::train {

// A scheduler remembers: as in MXNet, what it answers may depend on what it was
// asked before. One thread at a time.
class Scheduler {
 public:
  // Reads base_lr and the warm-up's arguments.
  explicit Scheduler(ArgumentReader& arguments);
  virtual ~Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // The rate of the given update; the first one is 1.
  double At(int64_t update);

  // The loss of an epoch that is over: of the validation, where there is one.
  virtual void OnEpoch(double) {}
  // Returns whether rates depend on what OnEpoch is told.
  virtual bool NeedsEpochs() const { return false; }

  // What MXNet's optimizer does to its scheduler when it is given a learning
  // rate of its own: the warm-up keeps aiming at the scheduler's base, and poly
  // and cosine do not change at all.
  void OverrideBase(double rate) { rate_ = rate; }

  // All that At has changed, to go on from in another process.
  virtual std::vector<double> State() const { return {rate_}; }
  // False, and nothing changes, where `state` is not of this scheduler.
  virtual bool Restore(std::span<const double> state);

 protected:
  // From the end of the warm-up on; changes rate_ or leaves it.
  virtual void Advance(int64_t update) = 0;

  int64_t warmup_steps() const { return warmup_steps_; }

  double rate_ = 0.01;  // MXNet's base_lr, which its schedulers overwrite

 private:
  int64_t warmup_steps_ = 0;
  double warmup_begin_ = 0, warmup_final_ = 0;
  int warmup_mode_ = 0;  // linear, constant
};

// A schedule as MXNet's constructor makes it: "FactorScheduler" is "factor".
StatusOr<std::unique_ptr<Scheduler>> MakeScheduler(
    const Specification& specification);

// Updates that a run will make.
struct RunLength {
  int64_t updates = 0, updates_an_epoch = 0;
};

// A schedule from the command line. `learning_rate` becomes base_lr, unless the
// text has its own, which it then overrides as MXNet's optimizer does. An empty
// text is a constant rate.
StatusOr<std::unique_ptr<Scheduler>> ParseSchedule(
    std::string_view text, std::optional<double> learning_rate,
    const std::optional<RunLength>& length = std::nullopt);

}  // namespace mxc::train
