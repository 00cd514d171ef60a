// SPDX-License-Identifier: Apache-2.0
// dist_ssp under faults: what a worker may not yet see, and that nobody waits
// for ever. Worker w pushes a 1 at element w, so a value says how many pushes
// of each worker it holds.
#include <deque>
#include <random>

#include "tests/kvstore/job.h"

namespace mxc::kvstore {
namespace {

constexpr uint32_t kWorkers = 3;
constexpr int kPushes = 12;

class StaleJob {
 public:
  StaleJob(uint64_t seed, uint32_t staleness)
      : staleness_(staleness),
        random_(seed),
        job_(Faults(seed), KeysOf({kWorkers}), Agreed(staleness), 1) {
    for (uint32_t rank = 0; rank < kWorkers; ++rank) {
      auto& gradient = gradients_.emplace_back(kWorkers);
      gradient[rank] = 1;
      values_.emplace_back(kWorkers);
    }
    const std::vector<float> zeros(kWorkers);
    job_.workers[0]->Init(0, std::as_bytes(std::span(zeros)));
    REQUIRE(job_.Run().ok());
  }

  // Until all have pushed kPushes times; who is fast goes on alone as far as it
  // may. How far the fastest was ahead of the slowest.
  int Run() {
    int most = 0;
    for (int turn = 0; turn < 1'000'000; ++turn) {
      bool done = true;
      for (uint32_t rank = 0; rank < kWorkers; ++rank) {
        Client& worker = *job_.workers[rank];
        done = done && worker.idle() && pushed_[rank] == kPushes;
        // Worker 2 is slow, and all are uneven.
        if (!worker.idle() || pushed_[rank] == kPushes ||
            random_() % (rank == 2 ? 50 : 3) != 0) {
          continue;
        }
        Check(rank);
        worker.PushPull(0, gradients_[rank], 1,
                        std::as_writable_bytes(std::span(values_[rank])));
        ++pushed_[rank];
      }
      const Status status = job_.Turn();
      REQUIRE_MESSAGE(status.ok(), status.message());
      const auto [least, greatest] = std::ranges::minmax(pushed_);
      most = std::max(most, greatest - least);
      if (done) return most;
    }
    FAIL("somebody waits for ever");
    return most;
  }

  // A value holds all of one's own pushes, and of others all but `staleness`.
  void Check(uint32_t rank) const {
    for (uint32_t other = 0; other < kWorkers; ++other) {
      const int lacks = other == rank ? 0 : static_cast<int>(staleness_);
      REQUIRE(static_cast<int>(values_[rank][other]) >= pushed_[rank] - lacks);
    }
  }

 private:
  static Settings Agreed(uint32_t staleness) {
    Settings settings;
    settings.mode = Mode::kSsp;
    settings.staleness = staleness;
    settings.workers = kWorkers;
    return settings;
  }
  static MemoryFaults Faults(uint64_t seed) {
    MemoryFaults faults;
    faults.seed = seed;
    faults.most_delay = kSecond / 20;
    faults.breaks = seed % 2 == 0 ? 0.01 : 0;
    return faults;
  }

  const uint32_t staleness_;
  std::mt19937_64 random_;
  std::deque<std::vector<float>> gradients_, values_;
  std::vector<int> pushed_ = std::vector<int>(kWorkers);
  Job job_;
};

TEST_CASE("bounded staleness: what a value lacks, and how far a worker gets") {
  for (const uint32_t staleness : {0u, 1u, 4u}) {
    CAPTURE(staleness);
    int most = 0;
    for (uint64_t seed = 0; seed < 10; ++seed) {
      StaleJob job(seed, staleness);
      most = std::max(most, job.Run());
      for (uint32_t rank = 0; rank < kWorkers; ++rank) job.Check(rank);
    }
    // The fastest has sent one push more before it waits for its value.
    CHECK(most == static_cast<int>(staleness) + 1);
  }
}

TEST_CASE("bounded staleness: who has finished holds nobody up") {
  Settings settings;
  settings.mode = Mode::kSsp;
  settings.workers = 2;
  Job job({}, KeysOf({1}), settings, 1);
  const std::vector<float> one = {1};
  std::vector<float> value(1);
  job.workers[0]->Init(0, std::as_bytes(std::span(value)));
  REQUIRE(job.Run().ok());
  job.workers[0]->PushPull(0, one, 1, std::as_writable_bytes(std::span(value)));
  for (int i = 0; i < 100; ++i) REQUIRE(job.Turn().ok());
  CHECK_FALSE(job.workers[0]->idle());
  job.workers[1]->Finish();
  REQUIRE(job.Run().ok());
  CHECK(value == one);
}

}  // namespace
}  // namespace mxc::kvstore
