// SPDX-License-Identifier: Apache-2.0
// Workers that are killed, stopped and replaced, one seed a course of events.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "tests/kvstore/job.h"

namespace mxc::kvstore {
namespace {

uint64_t MembershipSeeds() {
  const char* text = std::getenv("MXC_SEEDS");
  return text == nullptr ? 100 : std::strtoull(text, nullptr, 10);
}

Settings TwoWorkers(Mode mode) {
  Settings settings;
  settings.mode = mode;
  settings.workers = 2;
  return settings;
}

// Job of two workers and one key per server.
class TwoWorkerJob {
 public:
  // `deaths`: of servers.
  TwoWorkerJob(uint64_t seed, Mode mode, OnLoss on_loss,
               const ServerFaults& deaths = {})
      : job(Delays(seed), KeysOf({5, 300}), TwoWorkers(mode), 2, deaths,
            MakeAddingShelf, on_loss) {
    const std::vector<float> zeros(300);
    for (uint32_t key = 0; key < 2; ++key) {
      job.workers[0]->Init(key, Of(zeros, key));
    }
    REQUIRE(job.Run().ok());
  }

  void Push(uint32_t rank, float value) {
    gradients_.emplace_back(300, value);
    for (uint32_t key = 0; key < 2; ++key) {
      job.workers[rank]->Push(
          key, std::span(gradients_.back()).first(job.table[key].elements()),
          1);
    }
  }
  // Begins to pull; what comes is in `values`.
  void Pull(uint32_t rank) {
    for (uint32_t key = 0; key < 2; ++key) {
      auto& value = values[key];
      value.resize(job.table[key].elements());
      job.workers[rank]->Pull(key, std::as_writable_bytes(std::span(value)));
    }
  }
  // Until the worker waits for nothing, whatever others do.
  void Await(uint32_t rank) {
    for (int turns = 0; !job.workers[rank]->idle(); ++turns) {
      const Status status = job.Turn();
      REQUIRE_MESSAGE(status.ok(), status.message());
      REQUIRE(turns < 100'000);
    }
  }
  float ValueOf(uint32_t key) {
    for (const float value : values[key]) REQUIRE(value == values[key][0]);
    return values[key][0];
  }

  // Of whichever server has it.
  uint64_t RoundsOf(uint32_t key) {
    uint64_t rounds = 0;
    for (const auto& server : job.servers) {
      rounds = std::max(rounds, server->store().version(key));
    }
    return rounds;
  }

  Job job;
  std::vector<float> values[2];

 private:
  static MemoryFaults Delays(uint64_t seed) {
    MemoryFaults faults;
    faults.seed = seed;
    faults.least_delay = kSecond / 1000;
    faults.most_delay = kSecond / 20;
    return faults;
  }
  static Bytes Of(const std::vector<float>& zeros, uint32_t key) {
    return std::as_bytes(std::span(zeros).first(key == 0 ? 5 : 300));
  }
  std::vector<std::vector<float>> gradients_;
};

TEST_CASE(
    "a worker that stops is lost within 10 s, and cannot write after it") {
  for (uint64_t seed = 0; seed < MembershipSeeds() / 10; ++seed) {
    CAPTURE(seed);
    TwoWorkerJob two(seed, Mode::kSync, OnLoss::kWait, {0, seed % 2 == 1});
    Job& job = two.job;
    two.Push(0, 1);
    two.Push(1, 2);
    REQUIRE(job.Run().ok());

    const Time stopped_at = job.network.now();
    two.Push(1, 1000);  // that nobody has got yet
    const std::unique_ptr<Client> stopped = std::move(job.workers[1]);
    two.Push(0, 4);
    while (job.losses.empty()) REQUIRE(job.Turn().ok());
    CHECK(job.losses[0].first == 1);
    CHECK(job.losses[0].second - stopped_at <= 10 * kSecond);

    job.Replace(1);
    two.Await(1);
    CHECK(job.workers[1]->replaces());
    CHECK(job.workers[1]->joined() == 1);
    two.Pull(1);
    two.Await(1);
    CHECK(two.ValueOf(0) == 3);
    two.Push(1, 8);
    REQUIRE(job.Run().ok());

    // It wakes up.
    Status status;
    for (int i = 0; i < 1000 && status.ok(); ++i) {
      status = stopped->Pump();
      REQUIRE(job.Turn().ok());
    }
    CHECK(status.message().ends_with("): another process is worker 1 by now"));
    two.Pull(0);
    REQUIRE(job.Run().ok());
    for (const uint32_t key : {0, 1}) CHECK(two.ValueOf(key) == 1 + 2 + 4 + 8);
  }
}

TEST_CASE("without a worker that is lost, and with one that comes back") {
  TwoWorkerJob two(2, Mode::kSync, OnLoss::kShrink);
  Job& job = two.job;
  const std::unique_ptr<Client> stopped = std::move(job.workers[1]);
  two.Push(0, 1);
  REQUIRE(job.Run().ok());  // the others wait for it until it is given up
  CHECK(job.losses.size() == 2);
  two.Push(0, 2);
  REQUIRE(job.Run().ok());

  Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) {
    status = stopped->Pump();
    REQUIRE(job.Turn().ok());
  }
  CHECK(status.message() ==
        "server 0 (server0): worker 1 was given up: somebody at server0: "
        "nothing was heard for 4 s");

  job.Replace(1);
  REQUIRE(job.Run().ok());
  CHECK(job.workers[1]->joined() == 2);
  two.Pull(1);
  REQUIRE(job.Run().ok());
  CHECK(two.ValueOf(1) == 3);
  two.Push(0, 4);
  two.Push(1, 8);
  REQUIRE(job.Run().ok());
  two.Pull(0);
  REQUIRE(job.Run().ok());
  for (const uint32_t key : {0, 1}) CHECK(two.ValueOf(key) == 15);
  REQUIRE(job.Finish().ok());
}

// Round r of worker w pushes 2^(10 w + r), so a value says which pushes it
// holds. A worker that is killed at any moment goes on with its next round.
TEST_CASE("async, killed at any moment: what is confirmed counts, all once") {
  int killed = 0;
  for (uint64_t seed = 0; seed < MembershipSeeds(); ++seed) {
    TwoWorkerJob two(seed, Mode::kAsync, OnLoss::kWait);
    Job& job = two.job;
    std::mt19937_64 random(seed);
    uint32_t confirmed = 0, sent = 0;
    for (int round = 0; round < 10; ++round) {
      for (const uint32_t rank : {0u, 1u}) {
        sent |= 1u << (10 * rank + round);
        two.Push(rank, std::ldexp(1.0f, 10 * int(rank) + round));
      }
      for (uint64_t turns = random() % 8; turns > 0; --turns) {
        REQUIRE(job.Turn().ok());
      }
      if (job.workers[1]->idle()) confirmed |= 1u << (10 + round);
      if (random() % 3 == 0) {
        job.Replace(1);
        ++killed;
        REQUIRE(job.Run().ok());
        two.Pull(1);
      }
      const bool whole = !job.workers[1]->replaces();
      REQUIRE(job.Run().ok());
      confirmed |= 1u << round;
      if (whole) confirmed |= 1u << (10 + round);
    }
    two.Pull(0);
    REQUIRE(job.Run().ok());
    for (const uint32_t key : {0, 1}) {
      const auto held = static_cast<uint32_t>(two.ValueOf(key));
      REQUIRE_MESSAGE((held & ~sent) == 0, "seed " << seed);
      REQUIRE_MESSAGE((confirmed & ~held) == 0, "seed " << seed);
    }
    const Status status = job.Finish();
    REQUIRE_MESSAGE(status.ok(), seed << ": " << status.message());
  }
  CHECK(killed > 0);
}

// In sync mode a round that is made by some keys when a worker dies is made
// again by its other process: from the same values, and nothing counts twice.
TEST_CASE("sync, killed at any moment: no round lacks a gradient") {
  int repeated = 0, killed = 0;
  for (uint64_t seed = 0; seed < MembershipSeeds(); ++seed) {
    // Of every other job servers die, too, and go on from their journals, or
    // their backups do.
    TwoWorkerJob two(seed, Mode::kSync, OnLoss::kWait,
                     {seed % 4 == 3 ? 0.005 : seed % 2 * 0.05, seed % 4 == 3});
    Job& job = two.job;
    std::mt19937_64 random(seed);
    constexpr uint64_t kRounds = 8;
    uint64_t done = 0;  // rounds of worker 1
    for (uint64_t round = 0; round < kRounds; ++round) {
      two.Push(0, 1);
      if (done == round) {
        two.Push(1, 100);
        for (uint64_t turns = random() % 10; turns > 0; --turns) {
          REQUIRE(job.Turn().ok());
        }
        if (random() % 3 == 0) {
          job.Replace(1);
          two.Await(1);
          done = job.workers[1]->joined();
          two.Pull(1);
          two.Await(1);
          REQUIRE(two.ValueOf(0) == 101 * float(done));
          REQUIRE(two.ValueOf(1) == 101 * float(done));
          repeated += two.RoundsOf(0) != two.RoundsOf(1);
          if (done == round) two.Push(1, 100);
        }
        done = round + 1;
      }
      const Status status = job.Run();
      REQUIRE_MESSAGE(status.ok(), seed << ": " << status.message());
    }
    two.Pull(0);
    REQUIRE(job.Run().ok());
    for (const uint32_t key : {0, 1}) {
      REQUIRE_MESSAGE(two.ValueOf(key) == 101 * kRounds, "seed " << seed);
    }
    REQUIRE(job.Finish().ok());
    killed += job.killed;
  }
  CHECK(repeated > 0);
  CHECK(killed > 0);
}

}  // namespace
}  // namespace mxc::kvstore
