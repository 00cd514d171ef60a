// SPDX-License-Identifier: Apache-2.0
// mxc-run train: trains an artifact.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/shell_word.h"
#include "runtime/base/terminal.h"
#include "runtime/base/trace.h"
#include "runtime/train/checkpoint_files.h"
#include "runtime/train/judge.h"
#include "runtime/train/progress.h"
#include "tools/run/accumulating_step.h"
#include "tools/run/artifact_step.h"
#include "tools/run/failure.h"
#include "tools/run/group_step.h"
#include "tools/run/job_roles.h"
#include "tools/run/samples.h"
#include "tools/run/server_beside.h"
#include "tools/run/session.h"
#include "tools/run/subcommand.h"
#include "tools/run/trace_file.h"
#include "tools/run/train_options.h"
#include "tools/run/train_outputs.h"
#include "tools/run/train_states.h"
#include "tools/run/written_file.h"

namespace mxc::run {
namespace {

// The first SIGINT or SIGTERM asks the loop to stop; a second one does what it
// would if nobody had asked.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);
struct sigaction unasked[2];  // of SIGINT and of SIGTERM

void AskToStop(int signal) {
  interrupted = true;
  sigaction(signal, &unasked[signal == SIGTERM], nullptr);
}

void ListenForInterrupts() {
  struct sigaction action = {};
  action.sa_handler = AskToStop;
  for (const int signal : {SIGINT, SIGTERM}) {
    sigaction(signal, &action, &unasked[signal == SIGTERM]);
  }
}

std::unique_ptr<train::Reporter> ReporterFor(const TrainOptions& options,
                                             const Reporting& reporting) {
  using train::ReportStyle;
  if (reporting.json) {
    return train::MakeReporter(ReportStyle::kJson, options.report_every,
                               stdout);
  }
  const ReportStyle style = options.quiet ? ReportStyle::kSilent
                            : runtime::RedrawsLines(fileno(stderr))
                                ? ReportStyle::kBar
                                : ReportStyle::kLines;
  return train::MakeReporter(style, options.report_every, stderr);
}

void ReportBadRecords(const data::Iterator& samples,
                      train::Reporter& reporter) {
  const data::BadRecords& bad = samples.bad_records();
  if (bad.count == 0) return;
  constexpr size_t kShown = 3;
  // One that is met again in the next epoch, or in another's place, counts
  // again.
  std::string text = bad.count == 1 ? "1 damaged record was skipped"
                                    : "damaged records were skipped " +
                                          std::to_string(bad.count) + " times";
  const char* separator = ": ";
  const size_t shown = std::min(kShown, bad.sentences.size());
  for (const std::string& sentence : std::span(bad.sentences).first(shown)) {
    text += std::exchange(separator, "; ") + sentence;
  }
  if (bad.count > static_cast<int64_t>(shown)) text += "; and others";
  reporter.Warn(text);
}

// Workers share the samples. Worker 0 speaks, validates and saves for all;
// another saves what it alone keeps.
void LeaveToFirst(const Job& job, TrainOptions& options) {
  train::TrainerOptions& trainer = options.trainer;
  trainer.worker = job.rank;
  trainer.workers = job.workers;
  options.samples.worker = job.rank;
  options.samples.workers = job.workers;
  trainer.resume = trainer.resume || (job.resumes && !trainer.save.empty());
  if (job.rank == 0) return;
  if (!trainer.save.empty()) {
    trainer.save = train::WorkerPrefix(trainer.save, job.rank);
  }
  trainer.log_folder.clear();
  if (!options.trace.empty()) {
    options.trace += "." + std::to_string(job.rank);
  }
  options.validation.clear();
  options.quiet = true;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

void SettleTrainer(const train::TrainStep& step, TrainOptions& options) {
  train::TrainerOptions& trainer = options.trainer;
  trainer.learning_rate = options.learning_rate;
  if (!trainer.learning_rate &&
      trainer.schedule.find("base_lr=") == std::string::npos) {
    trainer.learning_rate = step.facts().learning_rate;
  }
  trainer.settings = {{"seed", std::to_string(options.samples.seed)}};
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) trainer.settings.emplace_back(name, text);
  };
  add("data_options", Joined(options.samples.settings));
  add("order", options.no_shuffle ? "as given" : "shuffled");
  add("begins_with", options.params.empty() ? options.init : options.params);
  add("device", options.device);
  trainer.samples = {.source = options.samples.data,
                     .options = options.samples.settings,
                     .seed = options.samples.seed,
                     .shuffled = !options.no_shuffle,
                     .batch = 0,
                     .summary = ""};
  trainer.interrupted = &interrupted;
  trainer.stop_at_bad_label = options.samples.on_bad_record == "stop";
  const std::vector<train::Head>& heads = step.facts().heads;
  trainer.metrics =
      options.metrics.empty() ? train::DefaultMetrics(heads) : options.metrics;
  trainer.metrics_may_fail = options.metrics.empty();
  Require(train::RequireFit(Take(train::MetricList::Parse(trainer.metrics)),
                            heads));
}

// And what is to be done with it, or with `best` where that is another.
std::string SavedSentence(const train::CheckpointName& saved,
                          const std::string& best, bool averages) {
  std::string text = "saved " + saved.Path("params");
  const std::string average = saved.Path("ema.params");
  if (averages) text += ", its moving average " + average;
  text += "; next: mxc compile " + runtime::ShellWord(saved.SymbolPath());
  const std::string params = best.empty() && averages ? average : best;
  return params.empty() ? text
                        : text + " --params " + runtime::ShellWord(params);
}

int ReportEnd(const train::TrainResult& result, bool averages,
              train::Reporter& reporter) {
  if (!result.interrupted) {
    if (result.saved) {
      reporter.Say(SavedSentence(*result.saved, result.best, averages));
    }
    return 0;
  }
  if (result.saved) {
    reporter.Say("stopped after step " + std::to_string(result.step) +
                 ", saved " + result.saved->Path("mxc") +
                 "; the same command with --resume goes on from there");
  } else {
    reporter.Say("stopped after step " + std::to_string(result.step) +
                 "; nothing was saved, for there was no --save");
  }
  constexpr int kInterrupted = 130;  // as shells report SIGINT
  return kInterrupted;
}

// The loop, recorded where somebody wants to see it; also what was recorded of a
// run that failed.
train::StatusOr<train::TrainResult> RunLoop(train::Trainer& trainer,
                                            const TrainOptions& options) {
  if (options.trace.empty()) return trainer.Run();
  runtime::Trace::NameThread("training loop");
  runtime::Trace::Start();
  auto result = trainer.Run();
  runtime::Trace::Stop();
  const auto rank = static_cast<int>(options.trainer.worker);
  WriteTraceFile(options.trace,
                 runtime::Trace::Events(
                     rank + 1, "mxc train, worker " + std::to_string(rank)));
  return result;
}

// Null without --val. Of --data's options those hold that its source has, too.
std::unique_ptr<data::Iterator> OpenValidation(const TrainOptions& options,
                                               const data::Iterator& samples,
                                               const train::TrainStep& step) {
  if (options.validation.empty()) return nullptr;
  SampleOptions scored = options.samples;
  scored.data = options.validation;
  scored.offered = std::move(scored.settings);
  scored.settings = options.validation_settings;
  return OpenScoring(scored, samples.label_names(), step);
}

int TrainStates(train::TrainStep& step, const TrainOptions& options,
                const Reporting& reporting, bool speaks) {
  std::vector<std::string> read = FilesOfSource(options.samples.data);
  read.insert(read.end(), {options.artifact, options.params, options.states});
  const auto unwritable = UnwritableOf(
      {options.trainer.save, options.trainer.log_folder, options.trace, read});
  if (!unwritable.empty()) throw Failure(unwritable);
  const auto samples = OpenTraining(options.samples, !options.no_shuffle, step);
  const auto validation = OpenValidation(options, *samples, step);
  std::unique_ptr<train::Reporter> reporter =
      ReporterFor(options, speaks ? reporting : Reporting());
  PrepareStates(options, step, *reporter);
  ListenForInterrupts();
  if (options.trainer.save.empty() && speaks) {
    reporter->Warn(
        "nothing will be saved: what is learned is lost at the end; --save "
        "PREFIX keeps it");
  }
  for (const data::Iterator* opened : {samples.get(), validation.get()}) {
    if (opened == nullptr || opened->remark().empty() || !speaks) continue;
    reporter->Warn(opened->remark());
  }
  if (!options.job_options.empty()) {
    reporter->Warn(Joined(options.job_options) +
                   ": of jobs, and this process trains alone; mxc launch "
                   "--workers N -- mxc train … begins one");
  }
  train::Trainer trainer(step, *samples, validation.get(), *reporter,
                         options.trainer);
  const train::TrainResult result = Take(RunLoop(trainer, options));
  ReportBadRecords(*samples, *reporter);
  return ReportEnd(result, options.trainer.ema > 0, *reporter);
}

int TrainInJob(const Job& job, ArtifactStep& step, TrainOptions options,
               const Reporting& reporting) {
  LeaveToFirst(job, options);
  options.trainer.settings.emplace_back("kvstore", options.job.kvstore);
  JobWorker worker(job, options.job, step);
  try {
    const int code =
        TrainStates(worker.step(), options, reporting, job.rank == 0);
    worker.Finish();
    return code;
  } catch (const Failure& failure) {
    worker.Abort(failure.messages().front());
    throw;
  }
}

// Null where one device trains.
std::unique_ptr<GroupStep> OpenGroup(const TrainOptions& options,
                                     const runtime::OpenOptions& open) {
  if (options.device.find(',') == std::string::npos) return nullptr;
  const auto devices = Take(DeviceList(options.device));
  return Take(GroupStep::Open(options.artifact, devices, open));
}

int Train(TrainOptions options, const Reporting& reporting) {
  const std::optional<Job> job = Job::OfEnvironment();
  if (job) options.job_options.clear();
  options.job.accumulate = options.trainer.accumulate;
  const bool accumulates = options.trainer.accumulate > 1;
  const std::string cannot =
      CannotCombine({accumulates, options.trainer.ema > 0, options.device,
                     job ? options.job.kvstore : ""});
  if (!cannot.empty()) throw Failure(cannot);
  runtime::OpenOptions open;
  open.check_weights = options.check_weights;
  open.approve = Take(options.requirement.Approval());
  const auto serve = [&](const Job& server) {
    ServeJob(server, options.job, options.artifact, open);
  };
  if (job && job->serves) {
    serve(*job);
    return 0;
  }
  std::optional<ServerBeside> server;
  if (job && job->hosts) server.emplace(*job, serve);
  if (!job) {
    const auto group = OpenGroup(options, open);
    if (group != nullptr) {
      SettleTrainer(*group, options);
      return TrainStates(*group, options, reporting, true);
    }
  }
  const bool gradients = job ? !options.job.averages() : accumulates;
  const auto step = Take(ArtifactStep::Open(
      options.artifact, options.threads, open,
      gradients ? Extent::kGradients : Extent::kWhole, options.device));
  Require(CheckReplicas(*step->model(), 1));
  SettleTrainer(*step, options);
  if (job) {
    const int code = TrainInJob(*job, *step, std::move(options), reporting);
    if (server) server->Await();
    return code;
  }
  if (accumulates) {
    const auto accumulating = Take(AccumulatingStep::Make(*step));
    return TrainStates(*accumulating, options, reporting, true);
  }
  return TrainStates(*step, options, reporting, true);
}

// The options of a group that were given.
std::vector<std::string> SaidOf(const CLI::App& app, const std::string& group) {
  std::vector<std::string> said;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() == group && option->count() > 0) {
      said.push_back(option->get_name());
    }
  }
  return said;
}

}  // namespace

Command AddTrain(CLI::App& app, Reporting& reporting) {
  const auto options = std::make_shared<TrainOptions>();
  DeclareTrain(app, *options, reporting);
  app.footer(
      Footer("  mxc-run train net.mxa --data digits --epochs 2 --save net\n"
             "  mxc-run train net.mxa --data digits --save net --resume\n"));
  return [options, &app, &reporting] {
    options->job_options = SaidOf(app, "Jobs");
    reporting.exit_code = Train(*options, reporting);
  };
}

}  // namespace mxc::run
