// SPDX-License-Identifier: Apache-2.0
// The loop: batches through a network, schedules, metrics, validation,
// checkpoints, resuming.
//
// Two runs over the same samples with the same options leave the same bytes,
// also where one of them was interrupted at any moment and resumed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/base/file_lock.h"
#include "runtime/data/iterator.h"
#include "runtime/train/best_epoch.h"
#include "runtime/train/checkpoint.h"
#include "runtime/train/class_counts.h"
#include "runtime/train/ema_step.h"
#include "runtime/train/journal.h"
#include "runtime/train/metric.h"
#include "runtime/train/progress.h"
#include "runtime/train/retention.h"
#include "runtime/train/run_settings.h"
#include "runtime/train/sample_facts.h"
#include "runtime/train/scheduler.h"
#include "runtime/train/train_step.h"

namespace mxc::train {

struct TrainerOptions {
  int64_t epochs = 1;
  // Updates in all, after which an epoch is over and the run, too; 0: as many as
  // the epochs have.
  int64_t steps = 0;
  std::optional<double> learning_rate;
  std::string schedule;  // ParseSchedule; empty: a constant rate
  // Batches whose gradients make one update, which is a step; fewer at the end of
  // an epoch.
  int64_t accumulate = 1;
  // Of a moving average of the parameters (ema_step.h), by which validation
  // scores and which checkpoints hold beside them; 0: there is none. Of a job,
  // worker 0 keeps it.
  double ema = 0;
  // In place of both, by the step's number from 1; it is asked for every step.
  std::function<double(int64_t step)> rate;
  std::string metrics = "accuracy";  // MetricList::Parse
  // Adds metrics of the program's own behind those.
  std::function<void(MetricList& metrics)> add_metrics;
  // The metrics are a guess: leave them out if the network's outputs are not
  // of their kind.
  bool metrics_may_fail = false;

  std::string save;        // a checkpoint's prefix; empty: nothing is saved
  int64_t save_every = 0;  // steps; 0: after epochs alone
  Retention keep;          // which of both kinds stay
  Sync sync = Sync::kYes;  // of both
  // And Caffe's files (caffe_snapshot.h), whenever save_every says and at the
  // end.
  bool save_caffe = false;
  int64_t begin = 0;    // updates that were made before, elsewhere
  bool resume = false;  // from the newest complete checkpoint, if any
  // Remove what an earlier run has left under `save`, with `resume` what the
  // resumed run would write over unread; without, both are refused.
  bool overwrite = false;
  // Where the samples come from; batch and summary are the trainer's to fill.
  SampleFacts samples;

  // Of a job: worker 0 saves what all have alike, under `save`; the others what
  // they alone keep, under WorkerPrefix, and follow it.
  int64_t worker = 0, workers = 1;
  // The prefix of worker 0, where each other one reads its part of what all share
  // (TrainStep::Shares); empty: worker 0 gives it to them.
  std::string shared;
  // Each writes its part of that there, too (TrainStep::SavePieces).
  bool saves_pieces = false;
  // Another process writes what is saved under `save`, for this one, too, which
  // reads it alone (TrainStep::CollectStates brings its states there).
  bool follows = false;

  std::string early_stop;  // ParseStopRule; empty: all epochs are made

  bool stop_at_bad_label = false;  // one that is no class; else it is told

  std::string log_folder;  // empty: no journal
  bool log_norms = false;  // a curve for the norm of each parameter's gradient
  // What the journal says of the run beside what the trainer knows:
  // ("seed", "7").
  RunSettings settings;
  // Set by a signal's handler: the loop finishes its step, saves and returns.
  const std::atomic<int>* interrupted = nullptr;
};

struct TrainResult {
  int64_t step = 0, epochs = 0;  // in all
  bool interrupted = false;
  std::optional<CheckpointName> saved;  // the last checkpoint of this run
  bool in_pieces = false;               // that is (pieces.h)
  // PREFIX-best.params, where it was saved and a later epoch was no better.
  std::string best;
  std::optional<EpochSummary> last;  // the last whole epoch of this run
};

class Trainer {
 public:
  // All must outlive the trainer. `validation` may be null.
  Trainer(TrainStep& step, data::Iterator& samples, data::Iterator* validation,
          Reporter& reporter, TrainerOptions options)
      : ema_(options.ema > 0 && options.worker == 0
                 ? std::make_unique<EmaStep>(step, options.ema)
                 : nullptr),
        step_(ema_ != nullptr ? *ema_ : step),
        samples_(samples),
        validation_(validation),
        reporter_(reporter),
        options_(std::move(options)),
        labels_(step.facts().class_labels, step.facts().heads),
        judge_(step.facts().heads) {}

  StatusOr<TrainResult> Run();

  // Returns whether Run has failed for a loss that was not finite.
  bool diverged() const { return diverged_; }
  // Null where no averages are kept.
  EmaStep* averages() const { return ema_.get(); }

 private:
  Status Prepare();
  StatusOr<std::string> NameOfRun();
  Status LockSeries();
  Status BeginSeries();
  Status Resume();
  Status ResumeAsOthers();
  StatusOr<std::optional<NewestSet>> FindNewest() const;
  Status LeaveUnread(const std::optional<NewestSet>& newest);
  Status ResumeFrom(const NewestSet& newest);
  void RestoreLoop(const Checkpoint& checkpoint);
  void RestoreBest(const Checkpoint& checkpoint);
  Status CopyBest();
  Status SeekTo(const Checkpoint& checkpoint);
  StatusOr<data::Cursor> CursorOf(const Checkpoint& checkpoint) const;
  StatusOr<SampleFacts> FactsOfSamples() const;
  Status JoinOthers();
  Status RestoreSharedAt(int64_t steps);
  Status SkipBegun();
  Status SkipTo(const Position& position);
  Status BeginAnew();
  Status RemoveAllSets();
  Status LeaveOtherRuns();
  RunSettings Settings() const;
  Status OpenJournal();
  void JournalWeights();
  void JournalClasses();
  Status RunEpoch();
  Status FinishEpoch();
  void TellBest();
  RunLength LengthOfRun() const;
  Status SettleRate();
  // Returns whether `steps` are made.
  bool MadeAll() const {
    return options_.steps > 0 && steps_ >= options_.steps;
  }
  Status CutEpoch();
  Status RunStep();
  Status RunBatch(bool updates);
  StatusOr<bool> NextBatch();
  StatusOr<float> TrainBatch(bool updates);
  int64_t UpdatesIn(int64_t batches) const {
    return (batches + options_.accumulate - 1) / options_.accumulate;
  }
  Status MeasureStep();
  void WarnOfLargeBatch();
  void WarnOfMoreClasses();
  Status CheckBatch();
  std::string NonFiniteRecord() const;
  void WarnOfEpoch(const EpochSummary& summary);
  // Of a network that is trained in f16; nothing of others.
  std::optional<double> LossScale();
  void TellOfLossScale();
  Status Diverged(double loss);
  void Announce();
  Progress ProgressNow() const;
  StatusOr<std::map<std::string, std::string>> NotesNow() const;
  Status SaveEpoch();
  Status Save(const CheckpointName& name);
  Status Write(const CheckpointName& name, bool with_symbol);
  Status WritePieces(const CheckpointName& name, Checkpoint& checkpoint);
  Status SaveIfDue();
  Status SaveForCaffe();
  bool Interrupted() const {
    return options_.interrupted != nullptr && *options_.interrupted != 0;
  }

  const std::unique_ptr<EmaStep> ema_;  // of whoever keeps averages
  TrainStep& step_;
  data::Iterator& samples_;
  data::Iterator* validation_;
  Reporter& reporter_;
  TrainerOptions options_;

  std::unique_ptr<Scheduler> schedule_;
  std::optional<BestEpoch> best_;
  MetricList metrics_;
  LabelCheck labels_;
  std::optional<double> loss_scale_;  // when the epoch began
  bool said_chance_ = false, said_bad_record_ = false;
  std::optional<Journal> journal_;
  std::optional<ClassCounter> classes_;  // of the validation, for the journal
  Judge judge_;
  data::Batch batch_;

  runtime::FileLock lock_;          // of the prefix that it saves under
  std::string run_;                 // names this run in its checkpoints
  int64_t steps_ = 0, epochs_ = 0;  // done in all; a step is an update
  int64_t batches_ = 0;             // of the epoch
  double rate_ = 0;                 // of the last step
  int64_t rated_ = 0;               // the step that it is of
  int64_t caffe_saved_ = -1;        // the last step saved for Caffe
  double epoch_loss_ = 0;           // summed over batches_
  bool epoch_over_ = false;
  // Of an epoch that `steps` have cut: where it stood, to go on within it.
  std::optional<std::map<std::string, std::string>> cut_;
  bool resumed_cut_ = false;  // from a set with the number of such an epoch
  bool diverged_ = false;

  // Since the last report, validation and saving excluded.
  struct Stretch {
    double loss = 0;
    int64_t batches = 0, samples = 0, nanoseconds = 0;
  };
  Stretch reported_, journaled_, epoch_stretch_;
  double samples_per_s_ = 0;
  TrainResult result_;
};

}  // namespace mxc::train
