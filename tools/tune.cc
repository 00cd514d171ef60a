// SPDX-License-Identifier: Apache-2.0
// mxc tune: trains a network many times, each time with other settings, gives up
// early what does not do well, and keeps the best.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "runtime/base/file.h"
#include "runtime/base/joined.h"
#include "runtime/base/shell_word.h"
#include "runtime/job/job.h"
#include "runtime/train/best_epoch.h"
#include "runtime/train/checkpoint_files.h"
#include "runtime/tune/search.h"
#include "tools/command.h"
#include "tools/output_file.h"
#include "tools/tune/search_page.h"
#include "tools/tune/search_view.h"
#include "tools/tune/trial_check.h"
#include "tools/tune/trial_runs.h"
#include "tools/usage/values.h"

namespace mxc {
namespace {

constexpr int kInterrupted = 130;  // as shells report SIGINT
constexpr int64_t kMostTrials = 1'000'000, kMostEpochs = 1'000'000'000;

struct TuneOptions {
  std::vector<std::string> space;
  int64_t trials = 32, parallel = 1, epochs = 1, first_epochs = 1;
  int64_t reduction = 4;
  std::string prune = "asha", sampler = "random", objective, save;
  bool resume = false, overwrite = false, keep_trials = false;
};

std::atomic<int> interrupted = 0;

void AskToStop(int signal) {
  interrupted = 1;
  ::signal(signal, SIG_DFL);
}

// What belongs to one training, or is the search's.
constexpr const char* kRemoved[] = {"-o",
                                    "--dry-run",
                                    "--snapshot",
                                    "--save",
                                    "--save-every",
                                    "--keep",
                                    "--resume",
                                    "--overwrite",
                                    "--epochs",
                                    "--steps",
                                    "--keep-epochs",
                                    "--save-caffe",
                                    "--log-dir",
                                    "--log-norms",
                                    "--trace",
                                    "--kvstore",
                                    "--staleness",
                                    "--exchange",
                                    "--period",
                                    "--alpha",
                                    "--block-momentum",
                                    "--block-rate",
                                    "--compression",
                                    "--cut-from",
                                    "--slice",
                                    "--report-every",
                                    "--shard-states",
                                    "--shard-parameters",
                                    "--save-pieces",
                                    "--stages",
                                    "--place"};

// The names of the options that are declared on `app` meanwhile.
std::set<std::string> DeclareSearch(CLI::App& app, TuneOptions& options) {
  std::set<std::string> before;
  for (const CLI::Option* option : app.get_options()) {
    before.insert(option->get_name());
  }
  app.option_defaults()->group("Search");
  app.add_option("--search", options.space,
                 "a setting of mxc train and its values (repeatable): "
                 "lr=log(1e-4,1), momentum=uniform(0.5,0.99), "
                 "batch-size=int(16,128), optimizer=choice(sgd,adam); "
                 "data-opt.NAME of the data, opt.NAME (or NAME) of the "
                 "optimizer")
      ->required()
      ->allow_extra_args(false)
      ->type_name("NAME=VALUES");
  app.add_option("--trials", options.trials, "how many are begun")
      ->check(Between(1, kMostTrials))
      ->capture_default_str();
  app.add_option("--epochs", options.epochs, "of a trial that is not stopped")
      ->check(Between(1, kMostEpochs))
      ->capture_default_str();
  app.add_option("--parallel", options.parallel,
                 "trials at once, which share the processors")
      ->check(Between(1, 256))
      ->capture_default_str();
  app.add_option("--prune", options.prune,
                 "asha: stop trials that others leave behind (asynchronous "
                 "successive halving); none: train all of them whole")
      ->check(OneOf({"asha", "none"}))
      ->capture_default_str();
  app.add_option("--first-epochs", options.first_epochs,
                 "of asha: after so many epochs trials are compared first")
      ->check(AtLeast(1))
      ->capture_default_str();
  app.add_option("--reduction", options.reduction,
                 "of asha: one trial of so many goes on, for so many times the "
                 "epochs")
      ->check(AtLeast(2))
      ->capture_default_str();
  app.add_option("--sampler", options.sampler,
                 "random: each trial by itself; tpe: where earlier ones did "
                 "well (tree-structured Parzen estimator)")
      ->check(OneOf({"random", "tpe"}))
      ->capture_default_str();
  app.add_option("--objective", options.objective,
                 "what trials are compared by, of --val: loss, or one of "
                 "--metric (default: loss)")
      ->type_name("METRIC");
  app.add_option("--save", options.save,
                 "write PREFIX.tune.jsonl, the record of the search, while it "
                 "goes on; PREFIX.tune.html, PREFIX-best.params and "
                 "PREFIX-symbol.json at its end")
      ->required()
      ->type_name("PREFIX");
  app.add_flag("--resume", options.resume,
               "go on from the record of --save, if there is one");
  app.add_flag("--overwrite", options.overwrite,
               "remove what an earlier search has left under PREFIX");
  app.add_flag("--keep-trials", options.keep_trials,
               "keep the checkpoints of all trials, in PREFIX-trials");
  std::set<std::string> own;
  for (const CLI::Option* option : app.get_options()) {
    if (!before.contains(option->get_name())) own.insert(option->get_name());
  }
  own.insert({"--json", "--quiet"});
  return own;
}

class SearchRun {
 public:
  SearchRun(const TuneOptions& options, const Training& training,
            const std::set<std::string>& own)
      : options_(options), training_(training), own_(own) {}

  Result<int> Run();

 private:
  Status RequireLegal() const;
  Status ClearEarlier() const;
  tune::Texts Head(const tune::Space& space, const TrialWords& words) const;
  SearchFacts Facts(const tune::SearchOptions& search,
                    const std::string& objective) const;
  std::string Objective() const;
  int ThreadsOfTrial() const;
  void ForgetIfEmpty(const tune::Record& record) const;
  Status Keep(TrialRuns& trials, tune::Record& record,
              const tune::SearchResult& result) const;
  void Tell(const SearchFacts& facts, const TrialRuns& trials,
            const tune::Record& record, const tune::SearchResult& result) const;

  std::string RecordPath() const { return options_.save + ".tune.jsonl"; }
  std::string PagePath() const { return options_.save + ".tune.html"; }
  std::string Folder() const { return options_.save + "-trials"; }
  std::string SymbolPath() const { return options_.save + "-symbol.json"; }
  std::string BestPath() const {
    return train::BestPath(options_.save, "params");
  }

  const TuneOptions& options_;
  const Training& training_;
  const std::set<std::string>& own_;
};

std::string SearchRun::Objective() const {
  if (!options_.objective.empty()) return options_.objective;
  const auto rule =
      train::ParseStopRule(training_.loop().Value("--early-stop"));
  return rule.ok() ? rule->metric : "loss";
}

int SearchRun::ThreadsOfTrial() const {
  const auto all = static_cast<int64_t>(std::thread::hardware_concurrency());
  return static_cast<int>(std::max<int64_t>(1, all / options_.parallel));
}

Status SearchRun::RequireLegal() const {
  Diagnostics errors;
  const TrainOptions& asked = training_.options();
  if (asked.validation.empty()) {
    errors.push_back(UnplacedError(
        "--val is missing: trials are compared by samples that none of them "
        "has trained on"));
  }
  if (job::InJob()) {
    errors.push_back(UnplacedError(
        "mxc tune trains in one process, and this one is part of a job"));
  }
  const auto rule =
      train::ParseStopRule(training_.loop().Value("--early-stop"));
  if (rule.ok() && rule->patience > 0 && rule->metric != Objective()) {
    errors.push_back(UnplacedError(
        fmt::format("--early-stop looks at {}, --objective at {}: which epoch "
                    "of a trial is its best must be one of both",
                    rule->metric, Objective())));
  }
  if (options_.save.empty() || options_.save.find("://") != std::string::npos) {
    errors.push_back(UnplacedError(
        fmt::format("--save '{}': expected the path of files that begin so: a "
                    "search keeps its record and its trials on a disk",
                    options_.save)));
  }
  if (options_.first_epochs > options_.epochs) {
    errors.push_back(
        UnplacedError(fmt::format("--first-epochs {} is more than --epochs {}",
                                  options_.first_epochs, options_.epochs)));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

// A search that has failed before it learned anything leaves nothing that the
// next one would have to remove.
void SearchRun::ForgetIfEmpty(const tune::Record& record) const {
  if (EpochsOf(record.trials()) > 0) return;
  std::error_code error;
  std::filesystem::remove(RecordPath(), error);
  std::filesystem::remove_all(Folder(), error);
}

// What an earlier search has left; asked for by --overwrite.
Status SearchRun::ClearEarlier() const {
  if (options_.resume) return Done{};
  std::error_code error;
  const std::vector<std::string> files = {RecordPath(), PagePath(), BestPath(),
                                          train::BestPath(options_.save, "mxc"),
                                          SymbolPath()};
  if (!options_.overwrite) {
    for (const std::string& path : {BestPath(), SymbolPath(), Folder()}) {
      if (!std::filesystem::exists(path, error)) continue;
      return UnplacedError(fmt::format(
          "'{}' is there: --overwrite removes what was saved under '{}', "
          "--resume goes on with a search",
          path, options_.save));
    }
    return Done{};
  }
  for (const std::string& path : files) std::filesystem::remove(path, error);
  std::filesystem::remove_all(Folder(), error);
  return Done{};
}

tune::Texts SearchRun::Head(const tune::Space& space,
                            const TrialWords& words) const {
  std::string dimensions;
  for (const tune::Dimension& dimension : space) {
    dimensions += (dimensions.empty() ? "" : " ") + dimension.ToString();
  }
  return {{"trains", runtime::Joined(words.given(), " ")},
          {"space", dimensions},
          {"trials", fmt::format("{}", options_.trials)},
          {"epochs", fmt::format("{}", options_.epochs)},
          {"prune", options_.prune == "none"
                        ? "none"
                        : fmt::format("asha:{},{}", options_.first_epochs,
                                      options_.reduction)},
          {"sampler", options_.sampler},
          {"objective", Objective()},
          {"parallel", fmt::format("{}", options_.parallel)}};
}

SearchFacts SearchRun::Facts(const tune::SearchOptions& search,
                             const std::string& objective) const {
  const std::string& model = training_.options().request.request.network.model;
  return {.network = std::filesystem::path(model).stem().string(),
          .objective = objective,
          .less_is_better = search.less_is_better,
          .trials = options_.trials,
          .epochs = options_.epochs,
          .space = search.space,
          .rungs = tune::Asha(search.pruning).rungs()};
}

Status CopyFile(const std::string& from, const std::string& to) {
  const auto file = runtime::MappedFile::Open(from);
  if (!file.ok()) return UnplacedError(file.status().message());
  runtime::FileWriter writer(to);
  writer.Append(file->bytes());
  const runtime::Status written = writer.Commit();
  if (!written.ok()) return UnplacedError(written.message());
  return Done{};
}

// The parameters of the best epoch of the best trial.
Status SearchRun::Keep(TrialRuns& trials, tune::Record& record,
                       const tune::SearchResult& result) const {
  const runtime::Status whole =
      trials.Restore(result.best, result.epoch, record);
  if (!whole.ok()) return UnplacedError(whole.message());
  if (interrupted != 0) return Done{};
  const std::filesystem::path from =
      trials.ParametersOf(result.best, result.epoch);
  for (const char* extension : {"params", "mxc"}) {
    MXC_RETURN_IF_ERROR(
        CopyFile(std::filesystem::path(from).replace_extension(extension),
                 train::BestPath(options_.save, extension)));
  }
  return CopyFile(
      train::EpochCheckpoint(trials.PrefixOf(result.best), 1).SymbolPath(),
      SymbolPath());
}

void SearchRun::Tell(const SearchFacts& facts, const TrialRuns& trials,
                     const tune::Record& record,
                     const tune::SearchResult& result) const {
  const ReportStyle& style = training_.options().style;
  for (const std::string& warning : trials.warnings()) PrintWarning(warning);
  if (style.json) {
    Json json = JsonOfSearch(facts, record.trials(), result);
    json["interrupted"] = result.interrupted;
    json["artifacts"] = trials.artifacts();
    if (result.best >= 0 && !result.interrupted) json["saved"] = BestPath();
    PrintJson(json);
    return;
  }
  if (style.quiet) return;
  const std::vector<TrialRow> rows = RowsOf(facts, record.trials(), {});
  constexpr size_t kShown = 5;
  PrintLines(stderr, TableOf(facts, rows, kShown));
  PrintErr("{} of {} trials, {} of {} epochs, {} artifact{}\n", rows.size(),
           facts.trials, EpochsOf(record.trials()), facts.trials * facts.epochs,
           trials.artifacts(), trials.artifacts() == 1 ? "" : "s");
  if (result.interrupted) {
    PrintErr("stopped; the same command with --resume goes on from there\n");
  } else if (result.best >= 0) {
    PrintErr(
        "saved {} of trial {}, epoch {}; next: mxc compile {} --params {}\n",
        BestPath(), result.best, result.epoch, runtime::ShellWord(SymbolPath()),
        runtime::ShellWord(BestPath()));
  }
}

Result<int> SearchRun::Run() {
  const auto space = tune::ParseSpace(options_.space);
  if (!space.ok()) return UnplacedError(space.status().message());
  MXC_RETURN_IF_ERROR(RequireLegal());
  MXC_ASSIGN(const TrialWords words, TrialWords::Of(training_, own_, *space));
  const std::string objective = Objective();
  tune::SearchOptions search;
  search.space = *space;
  search.pruning = {.trials = options_.trials,
                    .epochs = options_.epochs,
                    .first_epochs = options_.first_epochs,
                    .reduction = options_.reduction,
                    .prunes = options_.prune == "asha"};
  search.sampler = options_.sampler;
  search.seed = training_.options().data.seed;
  search.parallel = static_cast<int>(options_.parallel);
  search.less_is_better = train::LessIsBetter(objective);
  TrialRuns trials(words,
                   {.objective = objective,
                    .folder = Folder(),
                    .epochs = options_.epochs,
                    .threads = ThreadsOfTrial(),
                    .keeps = options_.keep_trials},
                   interrupted);
  MXC_RETURN_IF_ERROR(RequireLegalTrials(*space, words));
  MXC_RETURN_IF_ERROR(ClearEarlier());
  auto record =
      tune::Record::Open(RecordPath(), Head(*space, words), options_.resume);
  if (!record.ok()) return UnplacedError(record.status().message());
  const SearchFacts facts = Facts(search, objective);
  const ReportStyle& style = training_.options().style;
  runtime::StatusOr<tune::SearchResult> result(tune::SearchResult{});
  {
    LiveTable table(facts, style.quiet || style.json);
    result = tune::Search(search, trials, **record, table, interrupted).Run();
  }
  if (!result.ok()) {
    ForgetIfEmpty(**record);
    return UnplacedError(result.status().message());
  }
  if (!result->interrupted) {
    MXC_RETURN_IF_ERROR(WriteOutput(
        PagePath(), MakeSearchPage(facts, (*record)->trials(), *result)));
    if (result->best < 0) {
      return UnplacedError("no trial has learned anything: each has failed");
    }
    // The symbol is kept last: where it is, the rest is, and the trials may be
    // gone in part.
    if (!std::filesystem::exists(SymbolPath())) {
      MXC_RETURN_IF_ERROR(Keep(trials, **record, *result));
      result->interrupted = !std::filesystem::exists(SymbolPath());
    }
    std::error_code error;
    if (!options_.keep_trials && !result->interrupted) {
      std::filesystem::remove_all(Folder(), error);
    }
  }
  Tell(facts, trials, **record, *result);
  return result->interrupted ? kInterrupted : kSuccess;
}

}  // namespace

std::function<int()> AddTune(CLI::App& app) {
  const auto training = std::make_shared<Training>(app);
  for (const char* name : kRemoved) {
    CLI::Option* option = app.get_option_no_throw(name);
    if (option != nullptr) app.remove_option(option);
  }
  app.get_option("MODEL")->description("a network to train");
  const auto options = std::make_shared<TuneOptions>();
  const auto own = std::make_shared<const std::set<std::string>>(
      DeclareSearch(app, *options));
  app.footer(
      "examples:\n"
      "  mxc tune models/mlp.json --data digits --val digits --epochs 16 \\\n"
      "      --search 'lr=log(1e-3,1)' --search 'momentum=uniform(0.5,0.99)' "
      "\\\n"
      "      --trials 64 --parallel 2 --save mlp\n"
      "Every setting of mxc train may be searched. Trials that differ in\n"
      "nothing but rates and seeds share one artifact.");
  return [training, options, own]() -> int {
    training->Settle();
    for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, AskToStop);
    const Result<int> code = SearchRun(*options, *training, *own).Run();
    if (code.ok()) return *code;
    return Fail(training->options().style, code.errors());
  };
}

}  // namespace mxc
