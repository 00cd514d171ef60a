// SPDX-License-Identifier: Apache-2.0
// mxc-run train: trains an artifact.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/joined.h"
#include "runtime/base/shell_word.h"
#include "runtime/base/terminal.h"
#include "runtime/fit/fit.h"
#include "runtime/fit/outputs.h"
#include "runtime/train/checkpoint_files.h"
#include "runtime/train/progress.h"
#include "tools/run/failure.h"
#include "tools/run/subcommand.h"
#include "tools/run/train_options.h"

namespace mxc::run {
namespace {

// The first SIGINT or SIGTERM asks the loop to stop; a second one does what it
// would if nobody had asked.
std::atomic<int> interrupted = 0;
static_assert(std::atomic<int>::is_always_lock_free);
struct sigaction unasked[2];  // of SIGINT and of SIGTERM

void AskToStop(int signal) {
  interrupted = 1;
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

// And what is to be done with it, or with `best` where that is another.
std::string SavedSentence(const train::CheckpointName& saved, bool in_pieces,
                          const std::string& best, bool averages) {
  const std::string pieces = in_pieces ? saved.Path(train::kPieces) : "";
  std::string text = "saved " + (in_pieces ? pieces : saved.Path("params"));
  const std::string average = saved.Path("ema.params");
  if (averages) text += ", its moving average " + average;
  text += "; next: mxc compile " + runtime::ShellWord(saved.SymbolPath());
  const std::string params = !best.empty() ? best : averages ? average : pieces;
  return params.empty() ? text
                        : text + " --params " + runtime::ShellWord(params);
}

int ReportEnd(const train::TrainResult& result, bool averages,
              train::Reporter& reporter) {
  if (!result.interrupted) {
    if (result.saved) {
      reporter.Say(SavedSentence(*result.saved, result.in_pieces, result.best,
                                 averages));
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

// What this process alone can tell before it trains.
void TellBeforehand(const TrainOptions& options, const fit::Fit& fit,
                    train::Reporter& reporter) {
  if (options.request.trainer.save.empty() && fit.speaks()) {
    reporter.Warn(
        "nothing will be saved: what is learned is lost at the end; --save "
        "PREFIX keeps it");
  }
  if (!fit.in_job() && !options.job_options.empty()) {
    reporter.Warn(runtime::Joined(options.job_options, " ") +
                  ": of jobs, and this process trains alone; mxc launch "
                  "--workers N -- mxc train … begins one");
  }
}

int Train(TrainOptions options, const Reporting& reporting) {
  runtime::OpenOptions open;
  open.check_weights = options.check_weights;
  open.approve = Take(options.requirement.Approval());
  options.request.trainer.interrupted = &interrupted;
  const bool averages = options.request.trainer.ema > 0;
  if (!job::InJob()) {  // where each process writes what its rank says
    auto wrong = fit::UnwritableOf(options.request, options.artifacts.front());
    if (!wrong.empty()) throw Failure(std::move(wrong));
  }
  fit::Given given;
  given.path = options.artifacts.front();
  for (const std::string& artifact : options.artifacts) {
    auto model = Take(runtime::Model::Open(artifact, open));
    if (given.model == nullptr) {
      given.model = std::move(model);
    } else {
      given.later.push_back(std::move(model));
    }
  }
  const auto fit = Take(fit::Fit::Open(std::move(given), options.request));
  if (!fit->speaks()) options.quiet = true;
  const std::unique_ptr<train::Reporter> reporter =
      ReporterFor(options, fit->speaks() ? reporting : Reporting());
  if (fit->serves()) {
    Take(fit->Run(*reporter));
    return 0;
  }
  ListenForInterrupts();
  TellBeforehand(options, *fit, *reporter);
  return ReportEnd(Take(fit->Run(*reporter)), averages, *reporter);
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
