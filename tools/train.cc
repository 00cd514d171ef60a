// SPDX-License-Identifier: Apache-2.0
// mxc train: compiles MODEL for training on the given data, then hands over to
// `mxc-run train`, whose options are known here, too.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/file_lock.h"
#include "runtime/base/nameless_file.h"
#include "tools/artifact_overview.h"
#include "tools/command.h"
#include "tools/driver/compile.h"
#include "tools/driver/temporary_file.h"
#include "tools/driver/unplaced_error.h"
#include "tools/dry_run.h"
#include "tools/train/train_data.h"
#include "tools/train/train_shapes.h"
#include "tools/train/training.h"

namespace mxc {
namespace {

// Where mxc-run finds the artifacts, one for each stage: the file to keep, or
// files that go with mxc-run.
Result<std::vector<std::string>> CompileSomewhere(
    const Training& training, std::vector<runtime::NamelessFile>& temporary) {
  const TrainOptions& options = training.options();
  const int stages = options.request.request.cut.count();
  std::vector<std::string> paths;
  if (!options.output.empty() && stages == 1) paths = {options.output};
  while (std::ssize(paths) < stages) {
    MXC_ASSIGN(runtime::NamelessFile file, MakeTemporaryFile());
    paths.push_back(file.path());
    temporary.push_back(std::move(file));
  }
  MXC_RETURN_IF_ERROR(training.CompileTo(paths));
  for (runtime::NamelessFile& file : temporary) {
    const runtime::Status kept = file.KeepAtExec();
    if (!kept.ok()) return UnplacedError(kept.message());
  }
  return paths;
}

// `mxc-run train ARTIFACT`, or one for each stage.
int HandOver(const Training& training,
             const std::vector<std::string>& artifacts) {
  std::vector<std::string> words = {"mxc", "train"};
  words.insert(words.end(), artifacts.begin(), artifacts.end());
  for (std::string& word : WordsForRun(training.app(), training.loop())) {
    words.push_back(std::move(word));
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return HandOverToRun(argv.data());
}

std::optional<int64_t> NumberOf(const TrainLoop& loop, const char* option) {
  const std::string text = loop.Value(option);
  if (text.empty()) return std::nullopt;
  return std::stoll(text);
}

// Samples that are not there are said, and no error.
Status ShowTraining(const Training& training) {
  const TrainOptions& options = training.options();
  const TrainLoop& loop = training.loop();
  DryRun run;
  MXC_ASSIGN(run.request, RequestOf(options.request));
  MXC_RETURN_IF_ERROR(training.RequireCombination());
  run.request.network.parameters = std::make_shared<const ParameterFile>();
  MXC_ASSIGN(const auto network, LoadedNetwork::Read(run.request.network));
  DataRequest data = options.data;
  data.takes = TakenBy(*network, run.request.For(0));
  const auto source = OpenData(data, {});
  if (data.source.empty()) {
    run.unread = "none are named; --data does";
  } else if (source.ok()) {
    run.samples = source->get();
    MXC_ASSIGN(const Model model,
               DraftForShapes(**source, *network, run.request.For(0)));
    TakeShapes(**source, model, run.request);
  } else {
    run.unread = source.errors()[0].message;
  }
  run.solver = options.solver;
  run.network = network.get();
  run.validation = options.validation;
  run.batch_size = options.data.batch_size;
  run.epochs = NumberOf(loop, "--epochs");
  run.steps = NumberOf(loop, "--steps");
  run.accumulate = NumberOf(loop, "--accumulate").value_or(1);
  run.schedule = loop.Value("--lr-schedule");
  const std::string rate = loop.Value("--lr");
  if (!rate.empty()) run.rate = std::stod(rate);
  return Show(run, options.style);
}

void TellOfSolver(const TrainOptions& options) {
  if (!options.solver) return;
  for (const std::string& note : options.solver->notes) {
    PrintPhase(options.style, "note", note);
  }
}

int TrainBySolver(const Training& asked);

int RunTrain(Training& training) {
  const TrainOptions& options = training.options();
  const std::string& model = options.request.request.network.model;
  if (IsSolverFile(model)) return TrainBySolver(training);
  training.Settle();
  if (!options.snapshot.empty()) {
    return Fail(
        options.style,
        {UnplacedError("--snapshot goes with a solver; of other "
                       "networks --params and --states name the same")});
  }
  if (options.dry) {
    const Status shown = ShowTraining(training);
    if (!shown.ok()) return Fail(options.style, shown.errors());
    return kSuccess;
  }
  if (IsArtifact(model)) {
    const Status legal = RequireNoPlan(training.app(), training.loop(), model);
    if (!legal.ok()) return Fail(options.style, legal.errors());
    return HandOver(training, {model});
  }
  TellOfSolver(options);
  const Result<runtime::FileLock> lock = LockSeries(options.series);
  if (!lock.ok())
    return Fail(options.style, lock.errors(), "nothing was trained");
  std::vector<runtime::NamelessFile> temporary;
  const auto artifacts = CompileSomewhere(training, temporary);
  if (!artifacts.ok()) {
    return Fail(options.style, artifacts.errors(), "nothing was trained");
  }
  return HandOver(training, *artifacts);
}

// As if its words had been said.
int TrainBySolver(const Training& asked) {
  const TrainOptions& options = asked.options();
  auto words =
      WordsOfSolver(asked.app(), options.request.request.network.model);
  if (words.ok() && !options.snapshot.empty()) {
    const Status begun = BeginWith(options.snapshot, *words);
    if (!begun.ok()) return Fail(options.style, begun.errors());
  }
  if (!words.ok()) {
    return Fail(options.style, words.errors(), "nothing was trained");
  }
  CLI::App anew("", "train");
  Training training(anew, *words);
  std::vector<std::string> reversed = words->words;
  std::ranges::reverse(reversed);
  anew.parse(std::move(reversed));
  return RunTrain(training);
}

}  // namespace

std::function<int()> AddTrain(CLI::App& app) {
  const auto training = std::make_shared<Training>(app);
  app.footer(
      "examples:\n"
      "  mxc train models/mlp.json --data digits --save net\n"
      "  mxc train net.json --data folder:photos --val folder:more \\\n"
      "      --lr 0.05 --opt momentum=0.9 --save net\n"
      "  mxc train net.json --data digits --save net --resume\n"
      "  mxc train lenet_solver.prototxt --dry-run\n"
      "what a source of data takes: --data csv:F --data-opt help");
  return [training]() -> int { return RunTrain(*training); };
}

}  // namespace mxc
