// SPDX-License-Identifier: Apache-2.0
#include "runtime/tune/search.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "runtime/data/random.h"
#include "tests/support/temporary_folder.h"

namespace mxc::tune {
namespace {

constexpr int64_t kEpochs = 16;

Space TwoRates() {
  return *ParseSpace({"lr=log(1e-4,1)", "momentum=uniform(0,1)"});
}

// Learns best at lr 0.01 and momentum 0.7, the longer the better; at a rate
// above 0.5 it fails in its second epoch. How long an epoch takes is drawn.
class ToyTrainee : public Trainee {
 public:
  ToyTrainee(uint64_t noise, int64_t dies_after)
      : noise_(noise), left_(dies_after) {}

  std::atomic<int> interrupted = 0;
  std::atomic<int64_t> trained = 0;

  Status Train(const Task& task, const Texts& parameters,
               Record& record) override {
    const double rate = std::strtod(parameters[0].second.c_str(), nullptr);
    const double momentum = std::strtod(parameters[1].second.c_str(), nullptr);
    const auto known = std::ssize(record.trial(task.trial).epochs);
    for (int64_t epoch = known + 1; epoch <= task.to; ++epoch) {
      if (interrupted != 0) return {};
      const uint64_t bits =
          data::Key(noise_, data::Key(static_cast<uint64_t>(task.trial),
                                      static_cast<uint64_t>(epoch)));
      std::this_thread::sleep_for(std::chrono::microseconds(bits % 2000));
      if (left_-- <= 0) interrupted = 1;
      if (rate > 0.5 && epoch == 2) {
        return record.End(task.trial, "failed: the loss is not finite");
      }
      const double off =
          std::abs(std::log10(rate) + 2) + std::abs(momentum - 0.7);
      const double loss = off + 1.0 / static_cast<double>(epoch);
      ++trained;
      MXC_RT_RETURN_IF_ERROR(record.Add(
          task.trial, epoch,
          {.value = loss, .loss = loss, .metrics = {}, .validation = {}}));
    }
    return {};
  }

 private:
  const uint64_t noise_;
  std::atomic<int64_t> left_;
};

class NoWatcher : public Watcher {
  void Look(const Record&, const std::vector<Task>&) override {}
};

struct Outcome {
  SearchResult result;
  std::vector<TrialRecord> trials;
  int64_t trained = 0;
};

Outcome Run(const std::string& path, uint64_t noise, int64_t dies_after,
            const std::string& sampler = "random") {
  auto record = Record::Open(path, {{"space", "toy"}}, true);
  REQUIRE_MESSAGE(record.ok(), record.status().message());
  ToyTrainee trainee(noise, dies_after);
  NoWatcher watcher;
  Search search({.space = TwoRates(),
                 .pruning = {.trials = 40, .epochs = kEpochs},
                 .sampler = sampler,
                 .seed = 7,
                 .parallel = 3},
                trainee, **record, watcher, trainee.interrupted);
  const auto result = search.Run();
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return {*result, (*record)->trials(), trainee.trained};
}

void CheckSame(const Outcome& a, const Outcome& b) {
  CHECK(a.result.best == b.result.best);
  CHECK(a.result.epoch == b.result.epoch);
  REQUIRE(a.trials.size() == b.trials.size());
  for (size_t i = 0; i < a.trials.size(); ++i) {
    CAPTURE(i);
    CHECK(a.trials[i].parameters == b.trials[i].parameters);
    CHECK(a.trials[i].over == b.trials[i].over);
    CHECK(a.trials[i].epochs.size() == b.trials[i].epochs.size());
  }
}

constexpr int64_t kNever = INT64_MAX;

TEST_CASE("search: the same trials and result, however long epochs take") {
  for (const std::string sampler : {"random", "tpe"}) {
    CAPTURE(sampler);
    const test::TemporaryFolder folder("tune-search");
    const Outcome first = Run(folder.File("a"), 1, kNever, sampler);
    CHECK(first.trials.size() == 40);
    CHECK_FALSE(first.result.interrupted);
    CHECK(first.result.epoch == kEpochs);
    CheckSame(first, Run(folder.File("b"), 2, kNever, sampler));
  }
}

TEST_CASE("search: interrupted anywhere and resumed it finds the same") {
  const test::TemporaryFolder folder("tune-resume");
  const Outcome whole = Run(folder.File("whole"), 1, kNever);
  for (const int64_t dies_after : {0, 1, 5, 17, 40, 64, 90}) {
    CAPTURE(dies_after);
    const std::string path = folder.File(std::to_string(dies_after));
    const Outcome cut = Run(path, 3, dies_after);
    CHECK(cut.result.interrupted);
    const Outcome resumed = Run(path, 4, kNever);
    CHECK_FALSE(resumed.result.interrupted);
    CheckSame(whole, resumed);
    CHECK(cut.trained + resumed.trained == whole.trained);
  }
}

TEST_CASE("search: pruning trains a fraction of the epochs") {
  const test::TemporaryFolder folder("tune-prune");
  const Outcome pruned = Run(folder.File("a"), 1, kNever);
  CHECK(pruned.trained < 40 * kEpochs / 4);
  const TrialRecord best =
      pruned.trials[static_cast<size_t>(pruned.result.best)];
  CHECK(std::ssize(best.epochs) == kEpochs);
}

}  // namespace
}  // namespace mxc::tune
