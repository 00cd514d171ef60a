// SPDX-License-Identifier: Apache-2.0
// How a trainer begins and saves a series of checkpoints; trainer_resume.cc goes on
// with one.
#include <algorithm>
#include <string>
#include <utility>

#include "runtime/base/checksum.h"
#include "runtime/base/remote_files.h"
#include "runtime/base/trace.h"
#include "runtime/data/label_names.h"
#include "runtime/train/caffe_snapshot.h"
#include "runtime/train/snapshot.h"
#include "runtime/train/specification.h"
#include "runtime/train/trainer.h"
#include "runtime/train/trainer_notes.h"

namespace mxc::train {
namespace {

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

// Rows of a batch; 0 of a network that is fed nothing.
int64_t RowsOf(const data::Provides& provides) {
  if (provides.data.empty() || provides.data[0].shape.empty()) return 0;
  return provides.data[0].shape[0];
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
  return RemoveSets(sets, options_.sync);
}

// Whoever was killed may not have come to it, or have been further.
// One in pieces stays where it is.
Status Trainer::CopyBest() {
  const CheckpointName best = EpochCheckpoint(options_.save, best_->epoch());
  if (options_.worker != 0 || best_->epoch() == 0 ||
      RunOf(best.Path("mxc")) != run_) {
    return {};
  }
  MXC_RT_ASSIGN(const bool in_pieces, runtime::FileExists(best.Path(kPieces)));
  if (in_pieces) return {};
  return CopyAsBest(best, ema_ != nullptr, options_.sync);
}

StatusOr<SampleFacts> Trainer::FactsOfSamples() const {
  const StatusOr<data::Provides> needs = step_.needs(0);
  if (!needs.ok()) return needs.status();
  SampleFacts facts = options_.samples;
  facts.batch = RowsOf(*needs);
  facts.summary = samples_.summary();
  return facts;
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

StatusOr<std::map<std::string, std::string>> Trainer::NotesNow() const {
  const StatusOr<data::Provides> needs = step_.needs(0);
  if (!needs.ok()) return needs.status();
  const StatusOr<SampleFacts> facts = FactsOfSamples();
  if (!facts.ok()) return facts.status();
  std::map<std::string, std::string> notes = {
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
  if (!workers.empty()) notes[kWorkersNote] = workers;
  return notes;
}

// Where this run goes on within an epoch that `steps` had cut, the set with the
// epoch's number is what it has come from: another one stands in for it while it
// is written anew, so that who is killed meanwhile loses nothing.
Status Trainer::SaveEpoch() {
  const CheckpointName name = EpochCheckpoint(options_.save, epochs_);
  if (!std::exchange(resumed_cut_, false) || options_.follows) {
    return Save(name);
  }
  const CheckpointName meanwhile = StepCheckpoint(options_.save, steps_);
  MXC_RT_ASSIGN(const auto present, SetsOf(options_.save));
  const bool stays = std::ranges::any_of(present, [&](const auto& set) {
    return set.Path("mxc") == meanwhile.Path("mxc");
  });
  if (!stays) MXC_RT_RETURN_IF_ERROR(Write(meanwhile, false));
  MXC_RT_RETURN_IF_ERROR(Save(name));
  return stays ? Status() : RemoveSets({meanwhile}, options_.sync);
}

Status Trainer::Save(const CheckpointName& name) {
  const runtime::TraceSpan span("save", "loop");
  if (options_.follows) return step_.CollectStates();
  MXC_RT_RETURN_IF_ERROR(Write(name, options_.worker == 0));
  result_.saved = name;
  result_.in_pieces = options_.saves_pieces;
  if (name.prefix == options_.save && best_->epoch() == epochs_) {
    MXC_RT_RETURN_IF_ERROR(CopyBest());
  }
  RemoveAbandoned(options_.save);
  options_.keep.best = best_->epoch();
  RemoveOutdated(options_.save, run_, options_.keep);
  return {};
}

Status Trainer::Write(const CheckpointName& name, bool with_symbol) {
  Checkpoint checkpoint;
  checkpoint.step = steps_;
  checkpoint.epoch = epochs_;
  StatusOr<std::string> symbol = step_.symbol();
  if (!symbol.ok()) return symbol.status();
  if (with_symbol) checkpoint.symbol = std::move(*symbol);
  if (cut_) {
    checkpoint.epoch = epochs_ - 1;  // those that are whole
    checkpoint.notes = *cut_;
  } else {
    MXC_RT_ASSIGN(checkpoint.notes, NotesNow());
  }
  if (options_.saves_pieces) {
    MXC_RT_RETURN_IF_ERROR(WritePieces(name, checkpoint));
  } else {
    MXC_RT_RETURN_IF_ERROR(step_.CollectStates());
    MXC_RT_RETURN_IF_ERROR(CaptureStates(step_, checkpoint));
  }
  return WriteCheckpoint(name, checkpoint, options_.sync);
}

// Beside worker 0's set.
Status Trainer::WritePieces(const CheckpointName& name,
                            Checkpoint& checkpoint) {
  if (options_.worker == 0) {
    MXC_RT_RETURN_IF_ERROR(MarkUnfinished(name, options_.sync));
  }
  const CheckpointName first = {
      options_.shared + name.prefix.substr(options_.save.size()), name.number};
  MXC_RT_ASSIGN(auto index, step_.SavePieces(first, options_.sync));
  if (!index.arrays.empty()) checkpoint.index = std::move(index);
  return CaptureStates(step_, checkpoint, /*shared=*/false);
}

}  // namespace mxc::train
