// SPDX-License-Identifier: Apache-2.0
// What is there when training goes on is used, or refused by its name: nothing
// is written over that was not read.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "runtime/base/checksum.h"
#include "runtime/train/retention.h"
#include "runtime/train/sample_facts.h"
#include "runtime/train/snapshot.h"
#include "runtime/train/trainer.h"
#include "runtime/train/unread_sets.h"
#include "tests/support/shared.h"
#include "tests/train/toy.h"

namespace mxc::train {
namespace {

namespace fs = std::filesystem;

// A folder with the checkpoints of a run over two epochs, "net".
class Series {
 public:
  Series() {
    static int count = 0;
    folder_ =
        fs::temp_directory_path() / ("mxc_resume." + std::to_string(getpid()) +
                                     "." + std::to_string(count++));
    fs::remove_all(folder_);
    REQUIRE(Train(2, 0.2).ok());
  }
  ~Series() { fs::remove_all(folder_); }

  std::string prefix() const { return (folder_ / "net").string(); }
  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }

  StatusOr<TrainResult> Train(int64_t epochs, double rate,
                              const char* prefix = "net") {
    TrainerOptions options = OptionsFor(epochs);
    options.learning_rate = rate;
    options.save = Path(prefix);
    return Run(options);
  }
  StatusOr<TrainResult> Resume(int64_t epochs, bool overwrite = false) {
    TrainerOptions options = OptionsFor(epochs);
    options.resume = true;
    options.overwrite = overwrite;
    return Run(options);
  }
  TrainerOptions OptionsFor(int64_t epochs) const {
    TrainerOptions options;
    options.epochs = epochs;
    options.learning_rate = 0.2;
    options.metrics = "mse";
    options.save = prefix();
    return options;
  }
  StatusOr<TrainResult> Run(const TrainerOptions& options) {
    ToyStep step;
    ToySamples samples;
    const auto reporter = MakeReporter(ReportStyle::kSilent, 1, stderr);
    return Trainer(step, samples, nullptr, *reporter, options).Run();
  }

  // Every file by its name.
  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& file : fs::directory_iterator(folder_)) {
      contents[file.path().filename()] = ReadText(file.path().string());
    }
    return contents;
  }

 private:
  fs::path folder_;
};

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_CASE("resume: what cannot be read is refused by name, and stays") {
  struct Case {
    const char* what;
    std::function<void(const Series&)> harm;
    std::string named;  // begins with this file
  };
  const std::vector<Case> cases = {
      {"damaged parameters",
       [](const Series& series) {
         Write(series.Path("net-0002.params"), "short");
       },
       "net-0002.params is damaged"},
      {"no parameters",
       [](const Series& series) { fs::remove(series.Path("net-0002.params")); },
       "net-0002.mxc is damaged"},
      {"no states",
       [](const Series& series) { fs::remove(series.Path("net-0002.states")); },
       "net-0002.mxc is damaged"},
      {"a damaged record",
       [](const Series& series) { Write(series.Path("net-0002.mxc"), "?"); },
       "net-0002.mxc is damaged"},
      {"no record",
       [](const Series& series) { fs::remove(series.Path("net-0002.mxc")); },
       "net-0002.params was not saved by mxc"},
      {"only another program's parameters",
       [](const Series& series) {
         REQUIRE(RemoveSets(*AllSetsOf(series.prefix())).ok());
         Write(series.Path("net-0007.params"), "MXNet's");
       },
       "net-0007.params was not saved by mxc"},
      {"another program's states beyond",
       [](const Series& series) { Write(series.Path("net-0003.states"), ""); },
       "net-0003.states was not saved by mxc"},
      {"a damaged set within an epoch",
       [](const Series& series) {
         Write(series.Path("net-step-0099.mxc"), "");
       },
       "net-step-0099.mxc is damaged"},
  };
  for (const Case& test : cases) {
    CAPTURE(test.what);
    Series series;
    test.harm(series);
    const auto before = series.Contents();
    const auto refused = series.Resume(4);
    REQUIRE_FALSE(refused.ok());
    CHECK_MESSAGE(
        refused.status().message().starts_with(series.Path(test.named)),
        refused.status().message());
    CHECK(series.Contents() == before);
    REQUIRE(series.Resume(4, /*overwrite=*/true).ok());
    // What is learned is what an undisturbed run learns.
    REQUIRE(series.Train(4, 0.2, "whole").ok());
    CHECK(ReadText(series.Path("net-0004.params")) ==
          ReadText(series.Path("whole-0004.params")));
  }
}

TEST_CASE("resume: sets of another run are not written over") {
  Series series;
  REQUIRE(series.Train(4, 0.3, "other").ok());
  for (const char* extension : {"params", "states", "mxc"}) {
    fs::copy_file(EpochCheckpoint(series.Path("other"), 4).Path(extension),
                  EpochCheckpoint(series.prefix(), 4).Path(extension));
  }
  const auto refused = series.Resume(4);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().message() ==
        series.Path("net-0004.mxc") +
            " is of another run; --resume would write over it, --resume "
            "--overwrite removes it and goes on from " +
            series.Path("net-0002.mxc"));
  CHECK(series.Resume(3).ok());  // not as far as that
}

TEST_CASE("resume: what a killed run had begun to write is made again") {
  Series series;
  REQUIRE(series.Train(3, 0.2, "whole").ok());
  // Killed while the third set was written.
  Write(series.Path("net-0003.params"), "half");
  CHECK_FALSE(series.Resume(3).ok());  // without a record it is anybody's
  const std::string text = "mxc-checkpoint 1\nunfinished\narrays\n";
  const uint64_t sum = runtime::Checksum(std::as_bytes(std::span(text)));
  Write(series.Path("net-0003.mxc"),
        text + std::string(reinterpret_cast<const char*>(&sum), sizeof sum));
  REQUIRE(series.Resume(3).ok());
  CHECK(ReadText(series.Path("net-0003.params")) ==
        ReadText(series.Path("whole-0003.params")));
}

TEST_CASE("resume: a checkpoint that holds more is of another network") {
  ToyStep step;
  Checkpoint checkpoint;
  REQUIRE(CaptureStates(step, checkpoint).ok());
  REQUIRE(RestoreStates(checkpoint, step).ok());
  const auto refusal = [&](const auto& change) {
    Checkpoint changed = checkpoint;
    change(changed);
    return RestoreStates(changed, step).message();
  };
  const auto more = [](const std::string& what) {
    return "the checkpoint has " + what +
           ", which the network does not keep: it is of another network or "
           "optimizer, or other parameters were fixed";
  };
  const runtime::Array one =
      *runtime::Array::Allocate(runtime::ElementType::kF32, {1});
  CHECK(refusal([&](Checkpoint& changed) {
          changed.parameters.push_back({"arg:fc0_weight", one});
        }) == more("'fc0_weight'"));
  CHECK(refusal([&](Checkpoint& changed) {
          changed.updater.entries[0].value = {
              .array = {},
              .is_tuple = true,
              .items = {{.array = one, .is_tuple = false, .items = {}},
                        {.array = one, .is_tuple = false, .items = {}}}};
        }) == more("an optimizer's state of 'weight'"));
  CHECK(refusal([&](Checkpoint& changed) {
          changed.updater.entries.push_back(changed.updater.entries[0]);
          changed.updater.entries.back().key = int64_t{7};
        }) == more("an optimizer's state of parameter 7"));
}

TEST_CASE("resume: what differs of the samples is told, was and is") {
  const SampleFacts was = {.source = "npy:a b.npy",
                           .options = {"size=64"},
                           .seed = 0,
                           .shuffled = true,
                           .batch = 32,
                           .summary = "64 samples"};
  const std::string saved = SampleFactsText(was);
  CHECK(saved.find('\n') == saved.npos);
  CHECK(OtherSamples(saved, was).empty());
  CHECK(OtherSamples("", was).empty());
  SampleFacts now = was;
  now.seed = 3;
  CHECK(OtherSamples(saved, now) == "--seed was 0 and is 3");
  now.batch = 16;
  now.shuffled = false;
  CHECK(OtherSamples(saved, now) ==
        "--batch-size was 32 and is 16, --seed was 0 and is 3, --no-shuffle "
        "was not said and is said");
  now = was;
  now.summary = "65 samples";
  CHECK(OtherSamples(saved, now) ==
        "the content was 64 samples and is 65 samples");
  now.options.clear();
  CHECK(OtherSamples(saved, now) == "--data-opt was size=64 and is nothing");
}

TEST_CASE("resume: as many sets stay as were asked for") {
  Series series;
  TrainerOptions options = series.OptionsFor(6);
  options.save = series.Path("few");
  options.save_every = 3;
  options.keep = {.steps = 1, .epochs = 2};
  REQUIRE(series.Run(options).ok());
  std::vector<std::string> left;
  const auto sets = *AllSetsOf(options.save);
  for (const CheckpointName& name : sets) {
    left.push_back(fs::path(name.Path("mxc")).filename());
  }
  CHECK(left == std::vector<std::string>{"few-0005.mxc", "few-0006.mxc",
                                         "few-step-0042.mxc"});
  // The best epoch's stays, too.
  RemoveOutdated(options.save, RunOf(series.Path("few-0006.mxc")),
                 {.steps = 1, .epochs = 1, .best = 5});
  CHECK(SetsOf(options.save)->size() == 3);
  // Sets of other runs are none of its own.
  RemoveOutdated(series.prefix(), "another run", {.steps = 1, .epochs = 1});
  CHECK(SetsOf(series.prefix())->size() == 2);
}

}  // namespace
}  // namespace mxc::train
