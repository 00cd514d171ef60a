// SPDX-License-Identifier: Apache-2.0
// How a trainer begins, saves and resumes a series of checkpoints.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "runtime/base/checksum.h"
#include "runtime/base/joined.h"
#include "runtime/base/trace.h"
#include "runtime/data/label_names.h"
#include "runtime/train/caffe_snapshot.h"
#include "runtime/train/rule_facts.h"
#include "runtime/train/snapshot.h"
#include "runtime/train/trainer.h"
#include "runtime/train/unread_sets.h"

namespace mxc::train {
namespace {

// Numbers of a note, exactly.
std::string NumbersText(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    text += Format(text.empty() ? "%a" : " %a", number);
  }
  return text;
}

std::vector<double> NumbersOf(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    numbers.push_back(std::strtod(word.c_str(), nullptr));
  }
  return numbers;
}

std::string NoteOf(const Checkpoint& checkpoint, const char* word) {
  const auto found = checkpoint.notes.find(word);
  return found == checkpoint.notes.end() ? "" : found->second;
}

// What the rates depend on.
std::string ScheduleText(const TrainerOptions& options) {
  return options.schedule +
         (options.learning_rate ? Format(" %a", *options.learning_rate) : "");
}

// "data:64x1x28x28" of every input that batches fill; words of one line, as
// label names are.
std::string InputsText(const data::Provides& provides) {
  std::vector<std::string> words;
  for (const auto* fields : {&provides.data, &provides.labels}) {
    for (const data::Field& field : *fields) {
      std::string shape;
      for (const int64_t extent : field.shape) {
        shape += (shape.empty() ? "" : "x") + std::to_string(extent);
      }
      if (!shape.empty()) words.push_back(field.name + ":" + shape);
    }
  }
  return data::LabelNamesText(words);
}

// How many workers share the samples; empty: the process is alone.
constexpr const char* kWorkersNote = "workers";
std::string WorkersText(const TrainerOptions& options) {
  return options.workers > 1 ? std::to_string(options.workers) : "";
}

// Rows of a batch; 0 of a network that is fed nothing.
int64_t RowsOf(const data::Provides& provides) {
  if (provides.data.empty() || provides.data[0].shape.empty()) return 0;
  return provides.data[0].shape[0];
}

constexpr const char* kSamplesNote = "samples";
constexpr const char* kRulesNote = "rules";

// A schedule that states its own rate makes one that was given beside it void.
RuleFacts RulesOf(const TrainerOptions& options, const TrainFacts& facts) {
  std::vector<std::string> more;
  for (const auto& [name, value] : facts.optimizer_options) {
    more.push_back(name + "=" + value);
  }
  std::ranges::sort(more);
  return {{"--lr",
           options.learning_rate ? Format("%g", *options.learning_rate) : ""},
          {"--lr-schedule", options.schedule},
          {"--accumulate", std::to_string(options.accumulate)},
          {"--precision", facts.precision},
          {"--optimizer", facts.optimizer},
          {"--opt", runtime::Joined(more, " ")},
          {"--label-smoothing", facts.label_smoothing},
          {"--ema", options.ema > 0 ? Format("%g", options.ema) : ""}};
}

// States of one optimizer may have the shapes of another one's, and mean
// something else.
Status RequireOptimizer(const Checkpoint& checkpoint, const TrainFacts& facts) {
  const std::string was =
      RuleFactOf(NoteOf(checkpoint, kRulesNote), "--optimizer");
  if (was.empty() || was == facts.optimizer) return {};
  const bool has_states = std::ranges::any_of(
      checkpoint.updater.entries,
      [](const auto& entry) { return !FlattenState(entry.value).empty(); });
  if (!has_states) return {};
  return Fail(StatusCode::kInvalidArgument,
              "its states are those of optimizer '%s', expected '%s': --params "
              "with its .params begins with the parameters alone",
              was.c_str(), facts.optimizer.c_str());
}

// How many steps of a schedule lie behind after so many updates, as Caffe's
// policy multistep counts them.
int64_t PassedOf(const std::string& schedule, int64_t updates) {
  const auto parsed = ParseSpecification(schedule);
  if (!parsed.ok() || !parsed->name.starts_with("multifactor")) return 0;
  std::vector<int64_t> steps;
  ArgumentReader(*parsed, "schedule").Read("step", steps);
  return std::ranges::count_if(steps,
                               [&](int64_t step) { return step < updates; });
}

template <class Text>
void AddText(const Text& text, runtime::RunningChecksum& checksum) {
  checksum.Add(std::as_bytes(std::span(text)));
  checksum.Add(std::as_bytes(std::span("\n", 1)));
}

}  // namespace

// Two runs that begin alike on the same samples write the same files, so they
// may have the same name; it depends on no clock, so that the same command
// writes the same bytes.
StatusOr<std::string> Trainer::NameOfRun() {
  const StatusOr<std::string> symbol = step_.symbol();
  if (!symbol.ok()) return symbol.status();
  runtime::RunningChecksum checksum;
  AddText(*symbol, checksum);
  const TrainFacts& facts = step_.facts();
  AddText(facts.optimizer, checksum);
  for (const auto& [name, value] : facts.optimizer_options) {
    AddText(name + "=" + value, checksum);
  }
  if (!facts.label_smoothing.empty()) {
    AddText("label_smoothing=" + facts.label_smoothing, checksum);
  }
  if (options_.ema > 0) AddText(Format("ema=%a", options_.ema), checksum);
  if (options_.accumulate > 1) {
    AddText("accumulate=" + std::to_string(options_.accumulate), checksum);
  }
  AddText(ScheduleText(options_), checksum);
  AddText(samples_.summary(), checksum);
  AddText(data::CursorText(samples_.cursor()), checksum);
  for (size_t i = 0; i < step_.states().size(); ++i) {
    checksum.Add(step_.State(i));
  }
  return Format("%016llx", static_cast<unsigned long long>(checksum.value()));
}

// Two trainings at once would write over each other's checkpoints.
Status Trainer::LockSeries() {
  auto lock = runtime::FileLock::Take(LockPath(options_.save));
  if (!lock.ok()) {
    return Status(lock.status().code(),
                  lock.status().message() +
                      ": another training saves under the same --save");
  }
  if (!lock->holds()) {
    reporter_.Warn(
        "nothing keeps another training from writing over what this "
        "one saves: there are no locks where '" +
        options_.save + "' lies");
  }
  lock_ = std::move(*lock);
  return {};
}

Status Trainer::BeginSeries() {
  MXC_RT_RETURN_IF_ERROR(LockSeries());
  StatusOr<std::string> run = NameOfRun();
  if (!run.ok()) return run.status();
  run_ = std::move(*run);
  if (options_.resume) return {};
  if (options_.overwrite) return RemoveAllSets();
  MXC_RT_RETURN_IF_ERROR(RequireNoSeries(options_.save));
  const auto symbol = step_.symbol();
  if (!symbol.ok()) return symbol.status();
  return RequireNoOtherSymbol(EpochCheckpoint(options_.save, 1), *symbol);
}

// Nothing is there to go on from, at most what a killed run had begun to write:
// also for one that is killed meanwhile, whose records go last.
Status Trainer::BeginAnew() {
  reporter_.Say("no complete checkpoint of '" + options_.save +
                "' was found: starting anew");
  return RemoveAllSets();
}

Status Trainer::RemoveAllSets() {
  MXC_RT_ASSIGN(const auto sets, AllSetsOf(options_.save));
  return RemoveSets(sets);
}

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
  if (options_.overwrite) return RemoveSets(sets);
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
  return RemoveSets(names);
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

// Whoever was killed may not have come to it, or have been further.
Status Trainer::CopyBest() {
  const CheckpointName best = EpochCheckpoint(options_.save, best_->epoch());
  if (options_.worker != 0 || best_->epoch() == 0 ||
      RunOf(best.Path("mxc")) != run_) {
    return {};
  }
  return CopyAsBest(best, ema_ != nullptr);
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

StatusOr<SampleFacts> Trainer::FactsOfSamples() const {
  const StatusOr<data::Provides> needs = step_.needs(0);
  if (!needs.ok()) return needs.status();
  SampleFacts facts = options_.samples;
  facts.batch = RowsOf(*needs);
  facts.summary = samples_.summary();
  return facts;
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

Status Trainer::SaveIfDue() {
  MXC_RT_ASSIGN(result_.interrupted, step_.EndsHere(Interrupted()));
  if (options_.save.empty()) return {};
  const bool due = options_.save_every > 0 && steps_ % options_.save_every == 0;
  if (!due && !result_.interrupted) return {};
  MXC_RT_RETURN_IF_ERROR(Save(StepCheckpoint(options_.save, steps_)));
  return due ? SaveForCaffe() : Status();
}

Status Trainer::SaveForCaffe() {
  if (!options_.save_caffe || options_.save.empty() || options_.worker != 0 ||
      std::exchange(caffe_saved_, steps_) == steps_) {
    return {};
  }
  MXC_RT_RETURN_IF_ERROR(step_.CollectStates());
  return WriteCaffeSnapshot(
      options_.save, {steps_, PassedOf(options_.schedule, steps_)}, step_);
}

Status Trainer::Save(const CheckpointName& name) {
  const runtime::TraceSpan span("save", "loop");
  if (options_.follows) return step_.CollectStates();
  Checkpoint checkpoint;
  checkpoint.step = steps_;
  checkpoint.epoch = epochs_;
  StatusOr<std::string> symbol = step_.symbol();
  if (!symbol.ok()) return symbol.status();
  if (options_.worker == 0) checkpoint.symbol = std::move(*symbol);
  const StatusOr<data::Provides> needs = step_.needs(0);
  if (!needs.ok()) return needs.status();
  const StatusOr<SampleFacts> facts = FactsOfSamples();
  if (!facts.ok()) return facts.status();
  checkpoint.notes = {
      {"run", run_},
      {"inputs", InputsText(*needs)},
      {"cursor", data::CursorText(samples_.cursor())},
      {"epoch_loss", NumbersText({static_cast<double>(batches_), epoch_loss_})},
      {"schedule_text", ScheduleText(options_)},
      {"schedule", NumbersText(schedule_->State())},
      {"best_text", options_.early_stop},
      {"best", NumbersText(best_->State())},
      {"metrics_text", options_.metrics},
      {"metrics", NumbersText(metrics_.State())},
      {"preprocess", samples_.preprocessing()},
      {kSamplesNote, SampleFactsText(*facts)},
      {kRulesNote, RuleFactsText(RulesOf(options_, step_.facts()))},
      {"label_names", data::LabelNamesText(samples_.label_names())}};
  const std::string workers = WorkersText(options_);
  if (!workers.empty()) checkpoint.notes[kWorkersNote] = workers;
  MXC_RT_RETURN_IF_ERROR(step_.CollectStates());
  MXC_RT_RETURN_IF_ERROR(CaptureStates(step_, checkpoint));
  MXC_RT_RETURN_IF_ERROR(WriteCheckpoint(name, checkpoint));
  result_.saved = name;
  if (name.prefix == options_.save && best_->epoch() == epochs_) {
    MXC_RT_RETURN_IF_ERROR(CopyBest());
  }
  RemoveAbandoned(options_.save);
  options_.keep.best = best_->epoch();
  RemoveOutdated(options_.save, run_, options_.keep);
  return {};
}

}  // namespace mxc::train
