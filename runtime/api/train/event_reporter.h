// SPDX-License-Identifier: Apache-2.0
// A Reporter that calls the functions of mxc_train_events.
#pragma once

#include <string>

#include "runtime/mxc_train.h"
#include "runtime/train/progress.h"

namespace mxc::fit {

class EventReporter final : public train::Reporter {
 public:
  // `speaks`: whether more than warnings is told.
  EventReporter(const mxc_train_events& events, bool speaks)
      : events_(events), speaks_(speaks) {}

  bool WantsStep(int64_t step) override;
  void OnStep(const train::Progress& progress) override;
  void OnEpoch(const train::EpochSummary& summary) override;
  bool AfterEpoch() override;
  void Say(const std::string& sentence) override;
  void Warn(const std::string& sentence) override;

 private:
  const mxc_train_events events_;
  const bool speaks_;
  train::EpochSummary epoch_;  // the last one
};

}  // namespace mxc::fit
