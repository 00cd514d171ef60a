// SPDX-License-Identifier: Apache-2.0
// The curves of a training run in a folder: TensorBoard's event files and
// report.html, which is written anew every few seconds. What the run was told
// and how it did so far is a run of its own beside those of run_log.h, "hparams":
// TensorBoard puts into its table of runs every scalar that lies beside the
// settings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/train/event_log.h"
#include "runtime/train/progress.h"
#include "runtime/train/report.h"
#include "runtime/train/run_log.h"

namespace mxc::train {

class Journal {
 public:
  // `resumed_step`: the curves of the earlier run up to there are kept; 0: none
  // are. `report` holds title and settings. The page also shows the latest runs in
  // the folders beside this one.
  static StatusOr<Journal> Open(const std::string& folder, int64_t resumed_step,
                                Report report, bool norms = false);

  bool WantsStep(int64_t step) const { return step % kEvery == 0; }
  void OnStep(const Progress& progress);
  void OnEpoch(const EpochSummary& summary);
  // How the validation of the epoch that is told next went by class.
  void OnClasses(ValidatedClasses classes, bool best);
  // The norms of the gradients of a step by `parameters`; NaN: not known. Each has
  // its row on the page, and a curve in the event files where `norms` of Open says
  // so.
  void OnGradients(int64_t step, std::span<const std::string> parameters,
                   std::span<const float> norms);
  // The values of a parameter after a step.
  void OnWeights(int64_t step, const std::string& parameter,
                 std::span<const float> values);
  void OnNetwork(const std::vector<NetworkNode>& nodes) {
    log_.training().WriteGraph(nodes);
  }
  // After the last epoch, or where training stopped before.
  Status Close(bool failed = false);

 private:
  static constexpr int64_t kEvery = 10;  // steps

  Journal(std::string folder, RunLog log, EventLog table, Report report,
          bool norms)
      : norms_(norms),
        folder_(std::move(folder)),
        log_(std::move(log)),
        table_(std::move(table)),
        report_(std::move(report)) {}

  void WritePageIfDue();
  void WriteResults(const EpochSummary& summary);
  void Write(int64_t step, const std::vector<Scalar>& scalars);
  Status WritePage() const;

  bool norms_;
  std::string folder_;
  RunLog log_;
  EventLog table_;
  Report report_;
  int64_t page_written_ = 0;  // when, in ns
};

}  // namespace mxc::train
