// SPDX-License-Identifier: Apache-2.0
// How a trainer goes on with a series of checkpoints, and where others are.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "runtime/train/snapshot.h"
#include "runtime/train/trainer.h"
#include "runtime/train/trainer_notes.h"
#include "runtime/train/unread_sets.h"

namespace mxc::train {
namespace {

// States of one optimizer may have the shapes of another one's, and mean
// something else.
Status RequireOptimizer(const Checkpoint& checkpoint, const TrainFacts& facts) {
  const std::string was =
      RuleFactOf(NoteOf(checkpoint, kRulesNote), "--optimizer");
  if (was.empty() || was == facts.optimizer) return {};
  const bool has_states =
      (checkpoint.pieces != nullptr &&
       std::ranges::any_of(checkpoint.pieces->arrays(),
                           [](const PiecedArray& array) {
                             return !array.name.starts_with("arg:");
                           })) ||
      std::ranges::any_of(checkpoint.updater.entries, [](const auto& entry) {
        return !FlattenState(entry.value).empty();
      });
  if (!has_states) return {};
  return Fail(StatusCode::kInvalidArgument,
              "its states are those of optimizer '%s', expected '%s': --params "
              "with its .params begins with the parameters alone",
              was.c_str(), facts.optimizer.c_str());
}

}  // namespace

// What another run has left would be taken for this one's.
Status Trainer::LeaveOtherRuns() {
  std::vector<CheckpointName> sets;
  std::vector<std::string> others;
  MXC_RT_ASSIGN(const auto present, SetsOf(options_.save));
  for (const CheckpointName& name : present) {
    const std::string run = RunOf(name.Path("mxc"));
    if (run.empty() || run == run_) continue;
    sets.push_back(name);
    others.push_back(name.Path("mxc"));
  }
  if (others.empty()) return {};
  if (options_.overwrite) return RemoveSets(sets, options_.sync);
  const bool one = others.size() == 1;
  reporter_.Warn(ListFiles(others) + (one ? " is" : " are") +
                 " of another run; --resume --overwrite removes " +
                 (one ? "it" : "them"));
  return {};
}

// A set of a job of as many workers counts if all of them have saved theirs, and
// any set if there is none such.
StatusOr<std::optional<NewestSet>> Trainer::FindNewest() const {
  const auto by_all = [this](int64_t steps) {
    for (int64_t worker = 1; worker < options_.workers; ++worker) {
      const auto set =
          FindNewestComplete(WorkerPrefix(options_.save, worker), "",
                             [&](int64_t saved) { return saved == steps; });
      if (!set.ok() || !set->has_value()) return false;
    }
    return true;
  };
  auto newest = FindNewestComplete(options_.save, run_, by_all);
  if (!newest.ok() || newest->has_value()) return newest;
  return FindNewestComplete(options_.save, run_);
}

// Nothing is written over that was not read, here and beside.
Status Trainer::LeaveUnread(const std::optional<NewestSet>& newest) {
  Position reached;
  std::string run = run_;
  if (newest) {
    reached = {newest->step, newest->epoch};
    run = newest->run;
  }
  MXC_RT_ASSIGN(auto unread,
                FindUnreadSets(options_.save, reached, run, options_.epochs));
  for (int64_t worker = 1; worker < options_.workers; ++worker) {
    const std::string prefix = WorkerPrefix(options_.save, worker);
    MXC_RT_ASSIGN(auto others,
                  FindUnreadSets(prefix, reached, "", options_.epochs));
    std::ranges::move(others, std::back_inserter(unread));
  }
  if (!options_.overwrite) return RequireNoUnreadSets(unread, newest);
  std::vector<CheckpointName> names;
  for (const UnreadSet& set : unread) names.push_back(set.name);
  return RemoveSets(names, options_.sync);
}

Status Trainer::Resume() {
  if (options_.save.empty()) {
    return Fail(StatusCode::kInvalidArgument,
                "resuming needs the prefix of the checkpoints: --save");
  }
  const auto newest = FindNewest();
  if (!newest.ok()) return newest.status();
  MXC_RT_RETURN_IF_ERROR(LeaveUnread(*newest));
  if (!newest->has_value()) return BeginAnew();
  MXC_RT_RETURN_IF_ERROR(ResumeFrom(**newest));
  MXC_RT_RETURN_IF_ERROR(CopyBest());
  reporter_.Say(Format("resumed from %s: step %lld, epoch %lld",
                       (*newest)->name.Path("mxc").c_str(),
                       static_cast<long long>(steps_),
                       static_cast<long long>(epochs_ + 1)));
  return LeaveOtherRuns();
}

// What another process finds, which tells of it.
Status Trainer::ResumeAsOthers() {
  if (options_.save.empty()) return {};
  const auto newest = FindNewest();
  if (!newest.ok() || !newest->has_value()) return newest.status();
  return ResumeFrom(**newest);
}

// The network comes first: another one is fed other samples, too.
Status Trainer::ResumeFrom(const NewestSet& newest) {
  const StatusOr<Checkpoint> checkpoint = ReadCheckpoint(newest.name);
  if (!checkpoint.ok()) return checkpoint.status();
  Status status = RestoreStates(*checkpoint, step_);
  if (status.ok()) status = RequireOptimizer(*checkpoint, step_.facts());
  if (status.ok()) status = SeekTo(*checkpoint);
  if (!status.ok()) {
    return Status(status.code(),
                  newest.name.Path("mxc") + ": " + status.message());
  }
  if (ema_ != nullptr && checkpoint->averages.empty()) {
    reporter_.Say(newest.name.Path("mxc") +
                  " has no moving average: it begins with the parameters");
  } else if (ema_ == nullptr && !checkpoint->averages.empty()) {
    reporter_.Say(newest.name.Path("ema.params") +
                  " stays as it is: without --ema nothing goes on with it");
  }
  RestoreLoop(*checkpoint);
  resumed_cut_ =
      newest.name.prefix == options_.save && newest.name.number == epochs_ + 1;
  if (!newest.run.empty()) run_ = newest.run;
  return {};
}

void Trainer::RestoreLoop(const Checkpoint& checkpoint) {
  steps_ = checkpoint.step;
  epochs_ = checkpoint.epoch;
  const auto epoch = NumbersOf(NoteOf(checkpoint, "epoch_loss"));
  if (epoch.size() == 2 && epoch[0] >= 0 && epoch[0] < 0x1p53) {
    batches_ = static_cast<int64_t>(epoch[0]);
    epoch_loss_ = epoch[1];
  }
  // Another schedule begins as MXNet's begin_num_update: from its own start.
  if (NoteOf(checkpoint, "schedule_text") == ScheduleText(options_)) {
    schedule_->Restore(NumbersOf(NoteOf(checkpoint, "schedule")));
  }
  RestoreBest(checkpoint);
  if (NoteOf(checkpoint, "metrics_text") == options_.metrics) {
    metrics_.Restore(NumbersOf(NoteOf(checkpoint, "metrics")));
  }
  const std::string others = OtherRules(NoteOf(checkpoint, kRulesNote),
                                        RulesOf(options_, step_.facts()));
  if (!others.empty()) {
    reporter_.Warn("training goes on by other rules: " + others);
  }
  const std::string prepared = NoteOf(checkpoint, "preprocess");
  if (!prepared.empty() && prepared != samples_.preprocessing()) {
    reporter_.Warn("the samples are prepared otherwise than before: '" +
                   samples_.preprocessing() + "' now, '" + prepared +
                   "' until here");
  }
}

// Under another rule the best epoch is as good as it was.
void Trainer::RestoreBest(const Checkpoint& checkpoint) {
  const std::string text = NoteOf(checkpoint, "best_text");
  const auto before = ParseStopRule(text);
  const auto now = ParseStopRule(options_.early_stop);
  if (!before.ok() || !now.ok() ||
      BestEpoch::Measure(*before) != BestEpoch::Measure(*now)) {
    return;
  }
  best_->Restore(NumbersOf(NoteOf(checkpoint, "best")));
  if (text != options_.early_stop) best_->ForgetPatience();
}

// Samples that only look alike are told: they may be the same ones elsewhere.
Status Trainer::SeekTo(const Checkpoint& checkpoint) {
  const auto cursor = CursorOf(checkpoint);
  if (!cursor.ok()) return cursor.status();
  const auto facts = FactsOfSamples();
  if (!facts.ok()) return facts.status();
  const std::string others =
      OtherSamples(NoteOf(checkpoint, kSamplesNote), *facts);
  const Status same = samples_.Seek(*cursor);
  if (!same.ok()) return ExplainSeek(same, others);
  if (!others.empty()) {
    reporter_.Warn("training goes on with other samples: " + others);
  }
  return {};
}

// Another number of workers shares the samples otherwise, unless their batches
// together have as many rows: it begins with an epoch.
StatusOr<data::Cursor> Trainer::CursorOf(const Checkpoint& checkpoint) const {
  auto cursor = data::ParseCursor(NoteOf(checkpoint, "cursor"));
  const std::string saved = NoteOf(checkpoint, kWorkersNote);
  const std::string own = WorkersText(options_);
  if (!cursor.ok() || saved == own) return cursor;
  const uint64_t order = samples_.cursor().order;
  if (cursor->batch == 0) cursor->order = order;
  if (cursor->order == order) return cursor;
  return Fail(StatusCode::kInvalidArgument,
              "the checkpoint is from within an epoch that %s workers had "
              "begun; as many can go on from there, not %s",
              saved.empty() ? "1" : saved.c_str(),
              own.empty() ? "1" : own.c_str());
}

// Worker 0 says where the job begins, or the servers where it is by now. What
// this one alone keeps is in a set of its own of that step, or of one before.
Status Trainer::JoinOthers() {
  const StatusOr<Position> at =
      step_.Begin({steps_, epochs_, batches_},
                  [this](int64_t epoch) { return samples_.batches(epoch); });
  if (!at.ok()) return at.status();
  if (!options_.shared.empty() && options_.resume && at->steps > 0) {
    MXC_RT_RETURN_IF_ERROR(RestoreSharedAt(at->steps));
  }
  if (at->steps == steps_) return SkipBegun();
  if (options_.resume && !options_.save.empty() && options_.worker != 0) {
    const auto own =
        FindNewestComplete(options_.save, run_, [&](int64_t saved) {
          return saved == at->steps ||
                 (saved < at->steps && step_.TakesEarlier());
        });
    if (!own.ok()) return own.status();
    if (own->has_value()) MXC_RT_RETURN_IF_ERROR(ResumeFrom(**own));
  }
  return SkipTo(*at);
}

// From the set with which worker 0 goes on.
Status Trainer::RestoreSharedAt(int64_t steps) {
  MXC_RT_ASSIGN(const auto set,
                FindNewestComplete(options_.shared, run_, [&](int64_t saved) {
                  return saved == steps;
                }));
  if (!set) {
    return Fail(StatusCode::kNotFound,
                "worker %lld finds no checkpoint of step %lld under '%s', with "
                "which worker 0 goes on: where workers share parameters, all "
                "read them there",
                static_cast<long long>(options_.worker),
                static_cast<long long>(steps), options_.shared.c_str());
  }
  MXC_RT_ASSIGN(const Checkpoint checkpoint, ReadCheckpoint(set->name));
  const Status restored = RestoreShared(checkpoint, step_);
  if (restored.ok()) return restored;
  return Status(restored.code(),
                set->name.Path("mxc") + ": " + restored.message());
}

// The updates that somebody else made, unless a checkpoint has them.
Status Trainer::SkipBegun() {
  if (steps_ > 0 || options_.begin == 0) return {};
  return SkipTo({options_.begin, 0, options_.begin * options_.accumulate});
}

// As if the steps until there had been made here.
Status Trainer::SkipTo(const Position& position) {
  for (int64_t step = steps_ + 1; step <= position.steps; ++step) {
    (void)schedule_->At(step);
  }
  if (steps_ == position.steps) return {};
  steps_ = position.steps;
  epochs_ = position.epochs;
  batches_ = position.batches;
  for (int64_t all; batches_ > (all = samples_.batches(epochs_)); ++epochs_) {
    batches_ -= all;
  }
  data::Cursor cursor = samples_.cursor();
  cursor.epoch = epochs_;
  cursor.batch = batches_;
  return samples_.Seek(cursor);
}

}  // namespace mxc::train
