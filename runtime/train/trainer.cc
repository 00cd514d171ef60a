// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/trace.h"
#include "runtime/train/caffe_snapshot.h"

namespace mxc::train {
namespace {

double Mean(double sum, int64_t count) {
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

double PerSecond(int64_t count, int64_t nanoseconds) {
  return nanoseconds <= 0 ? 0
                          : static_cast<double>(count) * 1e9 /
                                static_cast<double>(nanoseconds);
}

}  // namespace

StatusOr<TrainResult> Trainer::Run() {
  MXC_RT_RETURN_IF_ERROR(Prepare());
  if (options_.resume && options_.worker == 0) {
    MXC_RT_RETURN_IF_ERROR(options_.follows ? ResumeAsOthers() : Resume());
  }
  MXC_RT_RETURN_IF_ERROR(JoinOthers());
  MXC_RT_RETURN_IF_ERROR(OpenJournal());
  WarnOfLargeBatch();
  WarnOfMoreClasses();
  loss_scale_ = LossScale();
  if (MadeAll()) {
    reporter_.Say(Format("all %lld steps are done already",
                         static_cast<long long>(options_.steps)));
  } else if (epochs_ >= options_.epochs) {
    const auto done = static_cast<long long>(epochs_);
    const auto asked = static_cast<long long>(options_.epochs);
    reporter_.Say(
        done == asked
            ? Format("all %lld epochs are done already", done)
            : Format("%lld epochs are done, --epochs says %lld", done, asked));
  }
  Status status;
  bool goes_on = true;
  while (status.ok() && epochs_ < options_.epochs && !result_.interrupted &&
         !best_->Stops() && goes_on && !MadeAll()) {
    status = RunEpoch();
    if (!status.ok() || result_.interrupted) break;
    status = step_.LendStates();
    goes_on = reporter_.AfterEpoch();
  }
  if (status.ok() && !result_.interrupted) status = SaveForCaffe();
  lock_ = {};  // nothing more is saved
  const Status lent = step_.LendStates();
  if (status.ok()) status = lent;
  if (status.ok()) TellBest();
  if (journal_) {
    const Status closed = journal_->Close(!status.ok());
    if (status.ok() && !closed.ok()) reporter_.Warn(closed.message());
  }
  if (!status.ok()) return status;
  result_.step = steps_;
  result_.epochs = epochs_;
  return result_;
}

Status Trainer::Prepare() {
  StatusOr<std::unique_ptr<Scheduler>> schedule =
      ParseSchedule(options_.schedule, options_.learning_rate, LengthOfRun());
  if (!schedule.ok()) return schedule.status();
  const std::string lacks =
      options_.save_caffe ? CaffeLacks(step_.facts()) : "";
  if (!lacks.empty()) return {StatusCode::kUnsupported, lacks};
  StatusOr<StopRule> rule = ParseStopRule(options_.early_stop);
  if (!rule.ok()) return rule.status();
  best_.emplace(std::move(*rule));
  if (options_.workers > 1 &&
      ((*schedule)->NeedsEpochs() || !options_.early_stop.empty())) {
    return Fail(StatusCode::kUnsupported,
                "early stop and the schedule 'plateau' follow the validation, "
                "which one worker of a job makes alone");
  }
  schedule_ = std::move(*schedule);
  StatusOr<MetricList> metrics = MetricList::Parse(options_.metrics);
  if (!metrics.ok()) return metrics.status();
  metrics_ = std::move(*metrics);
  if (options_.add_metrics) options_.add_metrics(metrics_);
  return options_.save.empty() || options_.follows ? Status() : BeginSeries();
}

RunLength Trainer::LengthOfRun() const {
  RunLength length;
  length.updates_an_epoch = UpdatesIn(samples_.batches(0));
  // Epochs differ by a batch at most.
  constexpr int64_t kCounted = 100000;
  const int64_t counted = std::min(options_.epochs, kCounted);
  for (int64_t epoch = 0; epoch < counted; ++epoch) {
    length.updates += UpdatesIn(samples_.batches(epoch));
  }
  length.updates += (options_.epochs - counted) * length.updates_an_epoch;
  if (options_.steps > 0) {
    length.updates = std::min(length.updates, options_.steps);
  }
  return length;
}

// That the last one was is no news, unless training was to stop at the best.
void Trainer::TellBest() {
  if (best_->epoch() == 0 || result_.interrupted) return;
  const bool stopped = best_->Stops();
  const bool watched = !options_.early_stop.empty();
  if (!watched && (validation_ == nullptr || best_->epoch() == epochs_)) return;
  std::string text = best_->Sentence();
  if (stopped) {
    text =
        Format("stopped after epoch %lld: ", static_cast<long long>(epochs_)) +
        text;
  }
  if (!options_.save.empty()) {
    const std::string kept =
        options_.saves_pieces
            ? EpochCheckpoint(options_.save, best_->epoch()).Path(kPieces)
            : BestPath(options_.save, "params");
    text += ", kept as " + kept;
    if (best_->epoch() != epochs_) result_.best = kept;
  }
  reporter_.Say(text);
}

Status Trainer::RunEpoch() {
  epoch_over_ = false;
  while (!epoch_over_) {
    MXC_RT_RETURN_IF_ERROR(RunStep());
    if (epoch_over_) break;
    Announce();
    MXC_RT_RETURN_IF_ERROR(SaveIfDue());
    if (result_.interrupted) return {};
    if (MadeAll()) MXC_RT_RETURN_IF_ERROR(CutEpoch());
  }
  return FinishEpoch();
}

// A longer run goes on with the samples that the epoch has left, if any.
Status Trainer::CutEpoch() {
  epoch_over_ = true;
  if (batches_ >= samples_.batches(epochs_)) {
    return samples_.SeekEpoch(epochs_ + 1);
  }
  MXC_RT_ASSIGN(cut_, NotesNow());
  return {};
}

StatusOr<bool> Trainer::NextBatch() {
  const runtime::TraceSpan span("next batch", "data");
  return samples_.Next(batch_);
}

StatusOr<float> Trainer::TrainBatch(bool updates) {
  const runtime::TraceSpan span("training step", "loop");
  const int64_t length = samples_.bucket_key(batch_.bucket);
  return updates ? step_.Train(batch_, length, rate_)
                 : step_.Accumulate(batch_, length);
}

// Once a step is sure to come: schedules and programs count what they are asked.
Status Trainer::SettleRate() {
  const int64_t step = steps_ + 1;
  if (std::exchange(rated_, step) == step) return {};
  rate_ = options_.rate ? options_.rate(step) : schedule_->At(step);
  if (std::isfinite(rate_) && rate_ >= 0) return {};
  return Fail(StatusCode::kInvalidArgument,
              "the learning rate of step %lld is %g, expected 0 or more",
              static_cast<long long>(step), rate_);
}

// The batches of one update; no save and no interruption comes between them.
Status Trainer::RunStep() {
  const int64_t left = samples_.batches(epochs_) - batches_;
  for (int64_t more = std::clamp(left, int64_t{1}, options_.accumulate);
       more > 0 && !epoch_over_; --more) {
    MXC_RT_RETURN_IF_ERROR(RunBatch(more == 1));
  }
  return {};
}

// Sets epoch_over_ where there is no batch.
Status Trainer::RunBatch(bool updates) {
  const int64_t start = runtime::Nanoseconds();
  const StatusOr<bool> more = NextBatch();
  if (!more.ok()) return more.status();
  if (!*more) {
    epoch_over_ = true;
    return {};
  }
  MXC_RT_RETURN_IF_ERROR(CheckBatch());
  MXC_RT_RETURN_IF_ERROR(SettleRate());
  const StatusOr<float> loss = TrainBatch(updates);
  if (!loss.ok()) return loss.status();
  if (!std::isfinite(*loss)) return Diverged(static_cast<double>(*loss));
  if (updates) ++steps_;
  ++batches_;
  epoch_loss_ += static_cast<double>(*loss);
  MXC_RT_RETURN_IF_ERROR(MeasureStep());
  const int64_t spent = runtime::Nanoseconds() - start;
  for (Stretch* stretch : {&reported_, &journaled_, &epoch_stretch_}) {
    stretch->loss += static_cast<double>(*loss);
    stretch->batches += 1;
    stretch->samples += batch_.rows();
    stretch->nanoseconds += spent;
  }
  return {};
}

Status Trainer::MeasureStep() {
  Status status = judge_.Update(batch_, step_.outputs(), 0, metrics_);
  if (status.ok() || !options_.metrics_may_fail) return status;
  metrics_ = MetricList();
  return {};
}

Status Trainer::Diverged(double loss) {
  diverged_ = true;
  std::string message =
      Format("the loss is %g at step %lld of epoch %lld (learning rate %g)",
             std::isnan(loss) ? std::fabs(loss) : loss,  // "nan", never "-nan"
             static_cast<long long>(steps_ + 1),
             static_cast<long long>(epochs_ + 1), rate_);
  const StatusOr<std::string> cause = step_.ExplainLoss();
  if (cause.ok() && !cause->empty()) message += ": " + *cause;
  message += NonFiniteRecord();
  if (result_.saved) {
    message += "; the last checkpoint is " + result_.saved->Path("mxc");
  }
  return Status(StatusCode::kInvalidArgument, std::move(message));
}

Progress Trainer::ProgressNow() const {
  Progress progress{.step = steps_,
                    .epoch = epochs_ + 1,
                    .epochs = options_.epochs,
                    .batch = batches_,
                    .batches = samples_.batches(samples_.cursor().epoch),
                    .loss = 0,
                    .metrics = ValuesOf(metrics_),
                    .learning_rate = rate_,
                    .samples_per_s = samples_per_s_,
                    .seconds_left = 0};
  const int64_t left = progress.batches - batches_ +
                       (options_.epochs - progress.epoch) * progress.batches;
  progress.seconds_left =
      Mean(static_cast<double>(left) *
               runtime::SecondsOf(epoch_stretch_.nanoseconds),
           epoch_stretch_.batches);
  return progress;
}

void Trainer::Announce() {
  const auto report = [&](auto& to, Stretch& stretch) {
    samples_per_s_ = PerSecond(stretch.samples, stretch.nanoseconds);
    Progress progress = ProgressNow();
    progress.loss = Mean(stretch.loss, stretch.batches);
    to.OnStep(progress);
    stretch = Stretch();
  };
  if (reporter_.WantsStep(steps_)) report(reporter_, reported_);
  if (!journal_ || !journal_->WantsStep(steps_)) return;
  report(*journal_, journaled_);
  journal_->OnGradients(steps_, step_.facts().parameters,
                        step_.gradient_norms());
}

Status Trainer::FinishEpoch() {
  EpochSummary summary;
  summary.step = steps_;
  summary.epoch = ++epochs_;
  summary.epochs = options_.epochs;
  summary.loss = Mean(epoch_loss_, batches_);
  summary.metrics = ValuesOf(metrics_);
  summary.learning_rate = rate_;
  summary.samples_per_s =
      PerSecond(epoch_stretch_.samples, epoch_stretch_.nanoseconds);
  summary.seconds = runtime::SecondsOf(epoch_stretch_.nanoseconds);
  MXC_RT_RETURN_IF_ERROR(step_.EndEpoch());
  if (validation_ != nullptr) {
    const runtime::TraceSpan span("validate", "loop");
    StatusOr<ScoreResult> score = ScoreAll(step_, *validation_, metrics_,
                                           classes_ ? &*classes_ : nullptr);
    if (!score.ok()) return score.status();
    summary.validation = {score->loss.value_or(std::nan("")),
                          ValuesOf(metrics_)};
    for (const std::string& warning : score->warnings) {
      if (options_.worker > 0) break;  // the first one tells it
      reporter_.Warn("to validate: " + warning);
    }
  }
  MXC_RT_RETURN_IF_ERROR(best_->Look(summary));
  schedule_->OnEpoch(summary.validation ? summary.validation->loss
                                        : summary.loss);
  WarnOfEpoch(summary);
  TellOfLossScale();
  metrics_.Reset();
  batches_ = 0;
  epoch_loss_ = 0;
  reported_ = epoch_stretch_ = Stretch();
  reporter_.OnEpoch(summary);
  if (journal_) {
    JournalClasses();
    journal_->OnEpoch(summary);
    JournalWeights();
  }
  result_.last = std::move(summary);
  return options_.save.empty() ? Status() : SaveEpoch();
}

}  // namespace mxc::train
