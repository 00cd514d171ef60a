// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/trainer.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "runtime/formats/ndarray_list.h"
#include "runtime/train/initial_states.h"
#include "runtime/train/snapshot.h"
#include "tests/support/shared.h"
#include "tests/train/toy.h"

namespace mxc::train {
namespace {

namespace fs = std::filesystem;

class RunFolder {
 public:
  RunFolder() {
    static int count = 0;
    path_ = (fs::temp_directory_path() /
             ("mxc_trainer." + std::to_string(getpid()) + "." +
              std::to_string(count++)))
                .string();
    fs::remove_all(path_);
  }
  ~RunFolder() { fs::remove_all(path_); }
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Keeps everything it is told.
class Recorder : public Reporter {
 public:
  bool WantsStep(int64_t) override { return true; }
  void OnStep(const Progress& progress) override { steps.push_back(progress); }
  void OnEpoch(const EpochSummary& summary) override {
    epochs.push_back(summary);
  }
  void Say(const std::string& sentence) override {
    sentences.push_back(sentence);
  }

  std::vector<Progress> steps;
  std::vector<EpochSummary> epochs;
  std::vector<std::string> sentences;
};

TrainerOptions Options(const std::string& save) {
  TrainerOptions options;
  options.epochs = 3;
  options.learning_rate = 0.2;
  options.schedule = "multifactor:step=5,12:factor=0.5";
  options.metrics = "mse";
  options.save = save;
  options.save_every = 4;
  return options;
}

struct Run {
  ToyStep step;
  ToySamples samples;
  Recorder recorder;

  StatusOr<TrainResult> Train(const TrainerOptions& options) {
    return Trainer(step, samples, nullptr, recorder, options).Run();
  }
};

// With their averages, if there are any.
std::string Weights(const RunFolder& folder, const char* prefix) {
  std::string all;
  for (const char* extension : {"params", "states", "ema.params"}) {
    const std::string path =
        EpochCheckpoint(folder / prefix, 3).Path(extension);
    if (fs::exists(path)) all += ReadText(path);
  }
  return all;
}

TEST_CASE("trainer: the loss falls, epochs are numbered and saved") {
  const RunFolder folder;
  Run run;
  ToySamples validation;
  TrainerOptions options = Options(folder / "net");
  options.log_folder = folder / "log";
  const auto result =
      Trainer(run.step, run.samples, &validation, run.recorder, options).Run();
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(result->step == 21);
  CHECK(result->epochs == 3);
  CHECK_FALSE(result->interrupted);
  const auto& epochs = run.recorder.epochs;
  REQUIRE(epochs.size() == 3);
  CHECK(epochs[2].epoch == 3);
  CHECK(epochs[2].step == 21);
  CHECK(epochs[2].loss < epochs[0].loss / 4);
  CHECK(epochs[2].validation->loss < epochs[0].validation->loss);
  CHECK(epochs[0].metrics[0].first == "mse");
  REQUIRE(run.recorder.steps.size() == 21);
  CHECK(run.recorder.steps[0].learning_rate == 0.2);
  CHECK(run.recorder.steps[5].learning_rate == 0.1);
  CHECK(run.recorder.steps[12].learning_rate == 0.05);
  CHECK(run.recorder.steps[20].batch == 7);
  // The last epoch's and the newest two within epochs.
  for (const char* file :
       {"net-0001.mxc", "net-0003.params", "net-0003.states", "net-symbol.json",
        "net-step-0016.mxc", "net-step-0020.mxc", "log/report.html"}) {
    CHECK_MESSAGE(fs::exists(folder / file), file);
  }
  CHECK_FALSE(fs::exists(folder / "net-step-0012.mxc"));
  CHECK(ReadText(folder / "log/report.html").find("<polyline") !=
        std::string::npos);
}

TEST_CASE("trainer: steps are updates, each of so many batches of its epoch") {
  const RunFolder folder;
  TrainerOptions options = Options(folder / "net");
  options.accumulate = 3;
  options.log_folder = folder / "log";
  Run run;
  const auto result = run.Train(options);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(result->step == 9);
  // Of seven batches an epoch.
  CHECK(run.step.batches_of_steps ==
        std::vector<int64_t>{3, 3, 1, 3, 3, 1, 3, 3, 1});
  REQUIRE(run.recorder.steps.size() == 9);
  CHECK(run.recorder.steps[1].batch == 6);
  CHECK(run.recorder.steps[2].batch == 7);
  CHECK(run.recorder.epochs[1].step == 6);
  // The schedule's step 5 and the sets every 4 steps count updates.
  CHECK(run.recorder.steps[5].learning_rate == 0.1);
  CHECK(run.recorder.steps[8].learning_rate == 0.1);
  for (const char* file : {"net-step-0004.mxc", "net-step-0008.mxc"}) {
    CHECK_MESSAGE(fs::exists(folder / file), file);
  }
  CHECK(ReadText(folder / "log/report.html").find("accumulate") !=
        std::string::npos);
}

TEST_CASE(
    "trainer: a schedule without a length knows how many updates follow") {
  TrainerOptions options = Options("");
  options.accumulate = 3;
  options.schedule = "poly";
  Run run;
  REQUIRE(run.Train(options).ok());
  // rate · (1 - t / 9)^2 at update t.
  CHECK(run.recorder.steps[2].learning_rate ==
        doctest::Approx(0.2 * 4 / 9).epsilon(1e-9));
  CHECK(run.recorder.steps[8].learning_rate == doctest::Approx(0));
}

TEST_CASE("trainer: a number of steps ends the run within an epoch") {
  const RunFolder folder;
  Run run;
  TrainerOptions options = Options(folder / "net");
  options.steps = 10;  // of seven an epoch
  const auto result = run.Train(options);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(result->step == 10);
  CHECK(result->epochs == 2);
  CHECK(fs::exists(EpochCheckpoint(folder / "net", 2).Path("params")));
  // Nothing is left to do, and with more steps the epoch goes on.
  options.resume = true;
  Run again;
  const auto nothing = again.Train(options);
  REQUIRE_MESSAGE(nothing.ok(), nothing.status().message());
  CHECK(nothing->step == 10);
  options.steps = 12;
  Run more;
  const auto longer = more.Train(options);
  REQUIRE_MESSAGE(longer.ok(), longer.status().message());
  CHECK(longer->step == 12);
  CHECK(longer->epochs == 2);
}

// Wherever steps have cut a run, by whatever it goes on: the same files remain.
TEST_CASE("trainer: what steps have cut goes on with the samples left") {
  const RunFolder folder;
  TrainerOptions options = Options(folder / "whole");
  options.metrics = "accuracy";
  Run whole;
  REQUIRE(whole.Train(options).ok());
  const std::string expected = Weights(folder, "whole");
  const auto names = [&](const std::string& prefix) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(FolderOf(folder / "x"))) {
      const std::string file = entry.path().filename().string();
      if (file.starts_with(prefix + "-")) {
        files.push_back(file.substr(prefix.size()));
      }
    }
    std::ranges::sort(files);
    return files;
  };
  for (int64_t cut = 1; cut < 15; ++cut) {
    CAPTURE(cut);
    const std::string prefix = "cut" + std::to_string(cut);
    options.save = folder / prefix.c_str();
    options.resume = false;
    options.steps = cut;
    REQUIRE(Run().Train(options).ok());
    options.resume = true;
    options.steps = 0;
    Run rest;
    REQUIRE(rest.Train(options).ok());
    CHECK(Weights(folder, prefix.c_str()) == expected);
    CHECK(names(prefix) == names("whole"));
    CHECK(rest.recorder.epochs.back().loss ==
          whole.recorder.epochs.back().loss);
  }
}

void CheckInterrupted(int64_t accumulate, double ema, int64_t steps) {
  const RunFolder folder;
  const auto options_of = [&](const std::string& save) {
    TrainerOptions options = Options(save);
    options.accumulate = accumulate;
    options.ema = ema;
    return options;
  };
  REQUIRE(Run().Train(options_of(folder / "whole")).ok());
  const std::string expected = Weights(folder, "whole");
  REQUIRE(expected.size() > 300);
  Run whole;
  REQUIRE(whole.Train(options_of("")).ok());
  for (int64_t stop = 1; stop <= steps; ++stop) {
    CAPTURE(stop);
    const std::string prefix =
        folder / ("stopped" + std::to_string(stop)).c_str();
    std::atomic<int> interrupted = 0;
    TrainerOptions options = options_of(prefix);
    options.interrupted = &interrupted;
    Run first;
    first.step.at_step = [&](int64_t number) {
      interrupted = number == stop ? 1 : 0;
    };
    const auto half = first.Train(options);
    REQUIRE(half.ok());
    CHECK(half->interrupted);
    CHECK(half->step == stop);
    Run second;
    interrupted = false;
    options.resume = true;
    const auto rest = second.Train(options);
    REQUIRE_MESSAGE(rest.ok(), rest.status().message());
    CHECK(rest->step == steps);
    CHECK(Weights(folder, ("stopped" + std::to_string(stop)).c_str()) ==
          expected);
    // What is reported of the last epoch is that of all its steps.
    CHECK(second.recorder.epochs.back().loss ==
          whole.recorder.epochs.back().loss);
    CHECK(second.recorder.epochs.back().metrics ==
          whole.recorder.epochs.back().metrics);
  }
}

TEST_CASE("trainer: interrupted after any step, it goes on bit for bit") {
  CheckInterrupted(1, 0, 21);
}

TEST_CASE("trainer: interrupted after any update, it goes on bit for bit") {
  CheckInterrupted(3, 0, 9);
}

TEST_CASE("trainer: a moving average goes on bit for bit") {
  CheckInterrupted(1, 0.9, 21);
  CheckInterrupted(3, 0.9, 9);
}

TEST_CASE(
    "trainer: averages are scored, saved, kept and removed with their set") {
  const RunFolder folder;
  TrainerOptions options = Options(folder / "net");
  options.ema = 0.9;
  options.keep.epochs = 2;
  Run run;
  ToySamples validation;
  const auto trained =
      Trainer(run.step, run.samples, &validation, run.recorder, options).Run();
  REQUIRE_MESSAGE(trained.ok(), trained.status().message());
  for (const char* file : {"net-0002.ema.params", "net-0003.ema.params",
                           "net-step-0020.ema.params"}) {
    CHECK_MESSAGE(fs::exists(folder / file), file);
  }
  CHECK_FALSE(fs::exists(folder / "net-0001.ema.params"));
  CHECK_FALSE(fs::exists(folder / "net-step-0012.ema.params"));
  // No set is taken for an epoch by its average.
  CHECK(SetsOf(folder / "net")->size() == 4);
  CHECK(AllSetsOf(folder / "net")->size() == 4);
  // Whoever averages nothing scores otherwise, and learns the same.
  Run plain;
  ToySamples again;
  TrainerOptions without = Options(folder / "plain");
  REQUIRE(Trainer(plain.step, plain.samples, &again, plain.recorder, without)
              .Run()
              .ok());
  CHECK(plain.recorder.epochs[0].validation->loss !=
        run.recorder.epochs[0].validation->loss);
  CHECK(ReadText(folder / "plain-0003.params") ==
        ReadText(folder / "net-0003.params"));
  // A file that is not the one that was saved makes the set no set.
  std::ofstream(folder / "net-0003.ema.params") << "other";
  CHECK_FALSE(CheckSet(EpochCheckpoint(folder / "net", 3)).ok());
  options.overwrite = true;
  REQUIRE(Run()
              .Train(Options(folder / "net"))
              .status()
              .message()
              .find("is the prefix of an earlier run") != std::string::npos);
  options.ema = 0;
  REQUIRE(Run().Train(options).ok());
  const auto series = *FilesOfSeries(folder / "net");
  for (const std::string& file : series) {
    CHECK_FALSE_MESSAGE(file.ends_with(".ema.params"), file);
  }
}

TEST_CASE("trainer: averages begin, or stay behind, where a run is resumed") {
  const RunFolder folder;
  TrainerOptions options = Options(folder / "net");
  options.epochs = 1;
  REQUIRE(Run().Train(options).ok());
  options.epochs = 2;
  options.resume = true;
  options.ema = 0.9;
  Run with;
  REQUIRE(with.Train(options).ok());
  CHECK(with.recorder.sentences[0] ==
        folder /
            "net-0001.mxc has no moving average: it begins with the "
            "parameters");
  CHECK(fs::exists(folder / "net-0002.ema.params"));
  options.epochs = 3;
  options.ema = 0;
  Run without;
  REQUIRE(without.Train(options).ok());
  CHECK(without.recorder.sentences[0] ==
        folder /
            "net-0002.ema.params stays as it is: without --ema nothing "
            "goes on with it");
  CHECK_FALSE(fs::exists(folder / "net-0003.ema.params"));
  const Provenance known = ProvenanceOf(folder / "net-0002.ema.params");
  CHECK(known.known);
  CHECK(known.problem == "");
  CHECK(known.epoch == 2);
}

// MXC_KILLS=200 for the whole measure.
TEST_CASE("trainer: killed at any moment, it resumes from whole files") {
  const char* given = std::getenv("MXC_KILLS");
  const int kills = given != nullptr ? std::atoi(given) : 25;
  const RunFolder folder;
  REQUIRE(Run().Train(Options(folder / "whole")).ok());
  std::mt19937 random(11);
  const auto train = [&] {
    TrainerOptions options = Options(folder / "killed");
    options.save_every = 2;
    options.resume = true;
    Run run;
    return run.Train(options).ok();
  };
  int killed = 0;
  for (int i = 0; i < kills; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(train() ? 0 : 1);
    usleep(random() % 30000);
    kill(child, SIGKILL);
    int state = 0;
    waitpid(child, &state, 0);
    if (WIFEXITED(state)) {
      CHECK(WEXITSTATUS(state) == 0);
      // It came to its end: from the beginning once more.
      REQUIRE(RemoveFiles(*FilesOfSeries(folder / "killed")).ok());
    } else {
      ++killed;
    }
  }
  REQUIRE(train());
  CHECK(Weights(folder, "killed") == Weights(folder, "whole"));
  for (const char* extension : {"params", "mxc"}) {
    CHECK(ReadText(BestPath(folder / "killed", extension)) ==
          ReadText(EpochCheckpoint(folder / "killed", 3).Path(extension)));
  }
  MESSAGE(killed << " of " << kills << " runs were killed");
}

TEST_CASE("trainer: a loss that is not finite names step and tensor") {
  const RunFolder folder;
  Run run;
  run.step.fails_at = 9;
  const auto result = run.Train(Options(folder / "net"));
  REQUIRE_FALSE(result.ok());
  CHECK(result.status().message() ==
        "the loss is nan at step 9 of epoch 2 (learning rate 0.1): step 3, "
        "'log', wrote nan into 'toy'; the last checkpoint is " +
            (folder / "net-step-0008.mxc"));
}

TEST_CASE("trainer: a new run does not begin over an earlier one's files") {
  const RunFolder folder;
  TrainerOptions options = Options(folder / "net");
  REQUIRE(Run().Train(options).ok());
  const std::vector<std::string> files = *FilesOfSeries(folder / "net");
  // Three epochs, the newest two within, the best one's parameters and record.
  CHECK(files.size() == 17);
  const auto refused = Run().Train(options);
  CHECK(refused.status().message() ==
        "'" + (folder / "net") +
            "' is the prefix of an earlier run: net-0001.mxc, net-0002.mxc, "
            "net-0003.mxc, net-step-0016.mxc and 13 more; --resume goes on "
            "with it, --overwrite replaces it");
  CHECK(*FilesOfSeries(folder / "net") == files);
  // What is left is that of one run, and what --resume goes on from.
  options.epochs = 1;
  options.overwrite = true;
  REQUIRE(Run().Train(options).ok());
  CHECK(FilesOfSeries(folder / "net")->size() == 8);
  options.overwrite = false;
  options.resume = true;
  options.epochs = 2;
  Run run;
  const auto result = run.Train(options);
  REQUIRE(result.ok());
  CHECK(run.recorder.sentences ==
        std::vector<std::string>{"resumed from " + (folder / "net-0001.mxc") +
                                 ": step 7, epoch 2"});
  CHECK(result->step == 14);
}

std::string BestOf(const RunFolder& folder) {
  return ReadText(folder / "net-best.params");
}
std::string ParametersOf(const RunFolder& folder, int64_t epoch) {
  return ReadText(EpochCheckpoint(folder / "net", epoch).Path("params"));
}

TEST_CASE("trainer: the best epoch's parameters stay under a name of theirs") {
  const RunFolder folder;
  TrainerOptions options = Options(folder / "net");
  options.save_every = 0;
  options.keep.epochs = 1;
  options.early_stop = "patience=9,min_delta=1000";  // none is better than 1
  Run run;
  const auto result = run.Train(options);
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(result->best == folder / "net-best.params");
  CHECK(run.recorder.sentences.back().ends_with(", kept as " + result->best));
  CHECK(BestOf(folder) == ParametersOf(folder, 1));
  CHECK(BestOf(folder) != ParametersOf(folder, 3));
  CHECK_FALSE(fs::exists(folder / "net-0002.params"));
  const Provenance best = ProvenanceOf(result->best);
  CHECK(best.problem.empty());
  CHECK(best.epoch == 1);
  CHECK(best.Note("run") == RunOf(folder / "net-0001.mxc"));
}

TEST_CASE("trainer: what is resumed knows its best epoch") {
  const RunFolder folder;
  TrainerOptions options = Options(folder / "net");
  options.save_every = 0;
  REQUIRE(Run().Train(options).ok());
  CHECK(BestOf(folder) == ParametersOf(folder, 3));  // the loss falls
  // As if it had been killed before, or the last set were lost.
  REQUIRE(RemoveSets({EpochCheckpoint(folder / "net", 3)}).ok());
  options.resume = true;
  options.epochs = 2;
  REQUIRE(Run().Train(options).ok());
  CHECK(BestOf(folder) == ParametersOf(folder, 2));
  // Patience changes nothing of that; another metric does.
  options.epochs = 3;
  options.early_stop = "patience=9,min_delta=1000";
  REQUIRE(Run().Train(options).ok());
  CHECK(BestOf(folder) == ParametersOf(folder, 2));
  options.epochs = 4;
  options.early_stop = "patience=9,metric=mse";
  REQUIRE(Run().Train(options).ok());
  CHECK(BestOf(folder) == ParametersOf(folder, 4));
}

TEST_CASE("trainer: a best epoch that is all that is left is of a run, too") {
  const RunFolder folder;
  TrainerOptions options = Options(folder / "net");
  options.save_every = 0;
  options.epochs = 1;
  REQUIRE(Run().Train(options).ok());
  REQUIRE(RemoveSets({EpochCheckpoint(folder / "net", 1)}).ok());
  const auto refused = Run().Train(options);
  CHECK(refused.status().message().find(
            "an earlier run: net-best.mxc, net-best.params") !=
        std::string::npos);
  options.overwrite = true;
  options.learning_rate = 0.1;
  REQUIRE(Run().Train(options).ok());
  CHECK(BestOf(folder) == ParametersOf(folder, 1));
}

TEST_CASE("trainer: of two runs' files one run is resumed, and named") {
  const RunFolder folder;
  TrainerOptions options = Options(folder / "net");
  options.save_every = 0;
  options.epochs = 2;
  REQUIRE(Run().Train(options).ok());
  TrainerOptions faster = Options(folder / "other");
  faster.save_every = 0;
  faster.learning_rate = 0.3;
  REQUIRE(Run().Train(faster).ok());
  CHECK(RunOf(folder / "net-0001.mxc") == RunOf(folder / "net-0002.mxc"));
  CHECK(RunOf(folder / "net-0001.mxc") != RunOf(folder / "other-0001.mxc"));
  for (const char* extension : {"params", "states", "mxc"}) {
    fs::copy_file(EpochCheckpoint(folder / "other", 3).Path(extension),
                  EpochCheckpoint(folder / "net", 3).Path(extension));
  }
  // The same options: the run that began with them.
  options.resume = true;
  options.epochs = 2;
  Run run;
  REQUIRE(run.Train(options).ok());
  CHECK(run.recorder.sentences[0] ==
        "resumed from " + (folder / "net-0002.mxc") + ": step 14, epoch 3");
  CHECK(run.recorder.sentences[1] ==
        "warning: net-0003.mxc is of another run; --resume --overwrite "
        "removes it");
  options.overwrite = true;
  options.epochs = 3;
  Run cleaned;
  REQUIRE(cleaned.Train(options).ok());
  CHECK(RunOf(folder / "net-0003.mxc") == RunOf(folder / "net-0001.mxc"));
  CHECK(cleaned.recorder.sentences.size() == 1);
}

TEST_CASE("trainer: labels that are no class are counted, the first is named") {
  data::Batch batch;
  batch.labels = {
      {"label", *runtime::Array::Allocate(runtime::ElementType::kF32, {3, 2})}};
  const float values[] = {0, 3, 4, -1, -7, std::nanf("")};
  std::memcpy(batch.labels[0].array.bytes().data(), values, sizeof values);
  batch.index = {10, 20, 30};
  const ToySamples samples;
  LabelCheck check({{.index = 0, .classes = 4, .ignored = -1.0}}, {});
  check.Look(batch, samples, /*pad=*/2);
  CHECK(check.count() == 0);
  CHECK(check.first() == "");
  check.Look(batch, samples);
  CHECK(check.count() == 3);
  CHECK(check.first() == "record 20: label 4 is none of the classes 0 to 3");
  LabelCheck strict({{.index = 0, .classes = 4, .ignored = std::nullopt}}, {});
  strict.Look(batch, samples);
  CHECK(strict.count() == 4);
}

TEST_CASE("labels that are cut, or no probability, are told from others") {
  data::Batch batch;
  batch.labels = {
      {"label", *runtime::Array::Allocate(runtime::ElementType::kF32, {4})}};
  const float values[] = {0, 0.5f, 1, 2.5f};
  std::memcpy(batch.labels[0].array.bytes().data(), values, sizeof values);
  batch.index = {10, 20, 30, 40};
  const ToySamples samples;
  LabelCheck classes({{.index = 0, .classes = 3, .ignored = std::nullopt}}, {});
  classes.Look(batch, samples);
  CHECK(classes.Warning() ==
        "record 20: label 0.5 is no class; 2 labels are no class");
  CHECK(classes.consequence() == "it is cut to 0");
  LabelCheck probabilities(
      {}, {{.kind = HeadKind::kProbabilities, .output = 0, .label = 0}});
  probabilities.Look(batch, samples);
  CHECK(probabilities.Warning() ==
        "record 40: label 2.5 is not between 0 and 1");
}

// The lines that the reporter prints of what `say` tells it.
template <class Say>
std::vector<std::string> LinesOf(ReportStyle style, Say say) {
  std::FILE* out = std::tmpfile();
  say(*MakeReporter(style, 1, out));
  std::rewind(out);
  std::vector<std::string> lines;
  char line[4096];
  while (std::fgets(line, sizeof line, out) != nullptr) lines.push_back(line);
  std::fclose(out);
  return lines;
}

TEST_CASE("trainer: JSON carries warnings, and is JSON with them") {
  const auto lines = LinesOf(ReportStyle::kJson, [](Reporter& reporter) {
    reporter.Warn("a \"b\"");
    reporter.Warn("c");
    reporter.OnEpoch(EpochSummary());
    reporter.OnEpoch(EpochSummary());
    reporter.Warn("d");
  });
  REQUIRE(lines.size() == 3);
  using Json = nlohmann::json;
  CHECK(Json::parse(lines[0])["warnings"] == Json({"a \"b\"", "c"}));
  CHECK_FALSE(Json::parse(lines[1]).contains("warnings"));
  CHECK(Json::parse(lines[2]) == Json{{"warnings", {"d"}}});
}

TEST_CASE("trainer: a sentence is one line, whatever its names hold") {
  const auto lines = LinesOf(ReportStyle::kLines, [](Reporter& reporter) {
    reporter.Warn("'a\nepoch 1/1  loss 0' is no file");
    reporter.Say("'\x1b[31m' is \t a name");
  });
  CHECK(lines == std::vector<std::string>{
                     "warning: 'a\\u000aepoch 1/1  loss 0' is no file\n",
                     "'\\u001b[31m' is \\u0009 a name\n"});
}

TEST_CASE("trainer: mistakes are told before anything is trained") {
  Run run;
  TrainerOptions options = Options("");
  options.resume = true;
  CHECK_FALSE(run.Train(options).ok());
  options = Options("");
  options.schedule = "factor";
  CHECK_FALSE(run.Train(options).ok());
  options = Options("");
  options.metrics = "nonsense";
  CHECK_FALSE(run.Train(options).ok());
  options.metrics = "f1";
  CHECK_FALSE(run.Train(options).ok());  // shapes
  options.metrics_may_fail = true;
  const auto result = run.Train(options);
  REQUIRE(result.ok());
  CHECK(result->last->metrics.empty());
}

TEST_CASE("snapshot: MXNet's files name what MXNet names") {
  ToyStep step;
  Checkpoint checkpoint;
  REQUIRE(CaptureStates(step, checkpoint).ok());
  std::vector<std::string> names;
  for (const auto& named : checkpoint.parameters) names.push_back(named.name);
  CHECK(names ==
        std::vector<std::string>{"arg:weight", "arg:bias", "aux:mean"});
  REQUIRE(checkpoint.updater.entries.size() == 2);
  CHECK(checkpoint.updater.entries[1].key ==
        std::variant<int64_t, std::string>(int64_t{1}));
  CHECK(checkpoint.updater.entries[1].value.array.has_value());
  REQUIRE(checkpoint.states.size() == 1);
  CHECK(checkpoint.states[0].name == "random");
  CHECK(checkpoint.parameters[0].array.bytes().data() ==
        step.State(0).data());  // nothing was copied
  checkpoint.states.clear();
  CHECK_FALSE(RestoreStates(checkpoint, step).ok());
  CHECK(LoadParameters(checkpoint.parameters, step).ok());
  checkpoint.parameters[0].array =
      *runtime::Array::Allocate(runtime::ElementType::kF32, {2});
  CHECK_FALSE(LoadParameters(checkpoint.parameters, step).ok());
}

TEST_CASE("snapshot: a weight's copy stands beside the optimizer's state") {
  ToyStep step(/*keeps_copy=*/true);
  Checkpoint checkpoint;
  REQUIRE(CaptureStates(step, checkpoint).ok());
  CHECK(checkpoint.states.size() == 1);
  const auto& entries = checkpoint.updater.entries;
  CHECK(entries[0].value.is_tuple);
  REQUIRE(entries[0].value.items.size() == 2);
  CHECK(entries[0].value.items[1].array->bytes().data() ==
        step.State(5).data());
  CHECK(entries[1].value.array);  // the bias has none
  CHECK(RestoreStates(checkpoint, step).ok());
}

TEST_CASE("snapshot: MXNet's states are taken whole or not at all") {
  ToyStep trained(/*keeps_copy=*/true);
  for (size_t i = 0; i < trained.states().size(); ++i) {
    std::ranges::fill(trained.State(i), std::byte{0x41});
  }
  Checkpoint checkpoint;
  REQUIRE(CaptureStates(trained, checkpoint).ok());
  ToyStep step(/*keeps_copy=*/true);
  REQUIRE(LoadUpdaterStates(checkpoint.updater, step).ok());
  for (size_t i = 3; i < 6; ++i) {  // both momenta and the copy
    CHECK(std::ranges::equal(step.State(i), trained.State(i)));
  }
  CHECK(step.State(0)[0] == std::byte{0});  // parameters stay
  checkpoint.updater.entries[1].key = "bias";
  CHECK(LoadUpdaterStates(checkpoint.updater, step).ok());
  ToyStep other;  // its weight has no copy
  CHECK(LoadUpdaterStates(checkpoint.updater, other).message() ==
        "its state of parameter 0, 'weight', is not what optimizer 'sgd' "
        "keeps: momentum of the parameter's shape");
  checkpoint.updater.entries.pop_back();
  CHECK_FALSE(LoadUpdaterStates(checkpoint.updater, step).ok());
  CHECK(other.State(3)[0] == std::byte{0});
}

TEST_CASE("snapshot: states have the form of MXNet's optimizers") {
  std::vector<std::string> asked;
  const auto form = [&](std::string_view text) {
    asked.clear();
    return StateOfForm(text, [&](std::string_view name) {
      asked.emplace_back(name);
      return runtime::Array::Allocate(runtime::ElementType::kF32, {1});
    });
  };
  CHECK_FALSE(form("None")->is_tuple);
  CHECK_FALSE(form("None")->array);
  CHECK(form("momentum")->array);
  CHECK(form("(n,)")->items.size() == 1);
  CHECK(form("(mean, var)")->items.size() == 2);
  const auto nested = form("((mean, var), weight_f32)");
  CHECK(nested->items[0].items.size() == 2);
  CHECK(asked == std::vector<std::string>{"mean", "var", "weight_f32"});
  CHECK(form("(None, previous)")->items[1].array);
  CHECK_FALSE(form("(mean").ok());
  CHECK_FALSE(form("((((((a))))))").ok());
}

TEST_CASE("trainer: figures of an epoch have equal widths") {
  const auto lines = LinesOf(ReportStyle::kLines, [](Reporter& reporter) {
    EpochSummary summary;
    summary.epochs = 9;
    const std::vector<std::pair<double, double>> epochs = {
        {2.302585, 0.1},      {12.34567, 0.999}, {9.99999, -0.12345},
        {1234.5678, 0.99962}, {99999.4, 0},      {0.00012, 1}};
    for (const auto& [loss, metric] : epochs) {
      ++summary.epoch;
      summary.loss = loss;
      summary.metrics = {{"mcc", metric}};
      summary.validation = {loss, {{"mcc", metric}}};
      reporter.OnEpoch(summary);
    }
  });
  REQUIRE(lines.size() == 6);
  CHECK(
      lines[0].starts_with("epoch 1/9  loss 2.3026  mcc 0.1000  val loss "
                           "2.3026  val mcc 0.1000  0 samples/s"));
  CHECK(lines[1].starts_with("epoch 2/9  loss 12.346  mcc 0.9990  "));
  CHECK(lines[2].starts_with("epoch 3/9  loss 10.000  mcc -0.123  "));
  CHECK(lines[3].starts_with("epoch 4/9  loss 1234.6  mcc 0.9996  "));
  CHECK(lines[4].starts_with("epoch 5/9  loss  99999  mcc 0.0000  "));
  for (const std::string& line : lines) CHECK(line.size() == lines[0].size());
}

}  // namespace
}  // namespace mxc::train
