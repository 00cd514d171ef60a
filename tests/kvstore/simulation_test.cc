// SPDX-License-Identifier: Apache-2.0
// Whole jobs under faults, one seed a course of events. schedules.sh runs 10^5
// of them: MXC_SEEDS from MXC_FIRST_SEED on.
#include <cstdlib>

#include "tests/kvstore/rounds.h"

namespace mxc::kvstore {
namespace {

// Of a server, before a turn.
constexpr double kDeaths = 0.002;

uint64_t Seeds() { return NumberOfSeeds(60); }

TEST_CASE("sync under faults: sums in the order of ranks, byte for byte") {
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Seeds(); ++seed) {
    Settings settings;
    settings.workers = 1 + seed % 4;
    // Two of the four keys are cut over the servers, or none is.
    settings.cut_from = seed % 2 == 0 ? 500 : 1'000'000;
    settings.slice = seed % 3 == 0 ? SliceOf(seed) : 0;
    const Outcome outcome = RunRounds(seed, Faults(seed), settings,
                                      static_cast<uint32_t>(1 + seed % 3));
    RequireExpected(outcome, seed, settings.workers);
  }
}

// Of a job of two workers and two servers, whose keys are cut: its hellos, first
// values, rounds and ends.
TEST_CASE("a connection that breaks behind any byte") {
  constexpr uint64_t kSeed = 1;
  Settings settings;
  settings.workers = 2;
  settings.cut_from = 500;
  MemoryFaults faults;
  faults.seed = kSeed;
  const uint64_t bytes = RunRounds(kSeed, faults, settings, 2).carried;
  std::vector<std::vector<float>> expected;
  for (size_t key = 0; key < kKeyCount; ++key) {
    expected.push_back(Expected(kSeed, key, settings.workers));
  }
  // A prime, so that every byte of a frame is met at some frame.
  const uint64_t stride = std::getenv("MXC_SEEDS") != nullptr ? 1 : 2003;
  for (faults.fatal_byte = 1; faults.fatal_byte <= bytes;
       faults.fatal_byte += stride) {
    REQUIRE_MESSAGE(RunRounds(kSeed, faults, settings, 2).values == expected,
                    "byte " << faults.fatal_byte);
  }
  MESSAGE("a job of " << bytes << " bytes, every " << stride << ".");
}

TEST_CASE("servers that are killed at any moment, under faults") {
  int killed = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Seeds() / 3; ++seed) {
    Settings settings;
    settings.workers = 1 + seed % 3;
    settings.cut_from = seed % 4 < 2 ? 500 : 1'000'000;
    settings.slice = seed % 3 == 1 ? SliceOf(seed) : 0;
    const Outcome outcome =
        RunRounds(seed, FewerBreaks(seed), settings,
                  static_cast<uint32_t>(1 + seed % 2), {kDeaths});
    killed += outcome.killed;
    RequireExpected(outcome, seed, settings.workers);
  }
  CHECK(killed > 0);
  MESSAGE("killed " << killed << " servers");
}

// Integers whose sums are exact in any order: what is lost or counted twice
// shows.
TEST_CASE("async under faults: every push counts once") {
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Seeds(); ++seed) {
    Settings settings;
    settings.mode = Mode::kAsync;
    settings.workers = 1 + seed % 4;
    const size_t elements = ElementsOf(seed)[2];
    const KeyTable keys = KeysOf({5, elements});
    const bool deaths = seed % 2 == 1;
    Job job(deaths ? FewerBreaks(seed) : Faults(seed), keys, settings, 2,
            {deaths ? kDeaths : 0});
    const std::vector<float> zeros(elements);
    for (uint32_t key = 0; key < 2; ++key) {
      job.workers[0]->Init(
          key, std::as_bytes(std::span(zeros).first(keys[key].elements())));
    }
    Status begun = job.Run();
    REQUIRE_MESSAGE(begun.ok(), seed << ": " << begun.message());
    float sum = 0;
    for (int round = 0; round < 10; ++round) {
      std::deque<std::vector<float>> gradients;
      for (uint32_t rank = 0; rank < settings.workers; ++rank) {
        const auto value = static_cast<float>(1 + rank * 100 + round);
        const auto& gradient = gradients.emplace_back(elements, value);
        for (uint32_t key = 0; key < 2; ++key) {
          job.workers[rank]->Push(
              key, std::span(gradient).first(keys[key].elements()), 1);
        }
        sum += value;
      }
      const Status status = job.Run();
      REQUIRE_MESSAGE(status.ok(), seed << ": " << status.message());
    }
    for (uint32_t key = 0; key < 2; ++key) {
      std::vector<float> value(keys[key].elements());
      job.workers[0]->Pull(key, std::as_writable_bytes(std::span(value)));
      REQUIRE(job.Run().ok());
      REQUIRE_MESSAGE(value == std::vector<float>(value.size(), sum),
                      "seed " << seed);
      CHECK(job.workers[0]->version(key) == 10 * settings.workers);
    }
    const Status status = job.Finish();
    REQUIRE_MESSAGE(status.ok(), seed << ": " << status.message());
  }
}

TEST_CASE("a worker that is gone ends the job with its name") {
  Settings settings;
  settings.workers = 3;
  Job job({}, KeysOf({10}), settings, 1);
  const std::vector<float> zeros(10);
  job.workers[0]->Init(0, std::as_bytes(std::span(zeros)));
  REQUIRE(job.Run().ok());
  for (int i = 0; i < 100; ++i) REQUIRE(job.Turn().ok());
  for (auto& worker : job.workers) worker->Push(0, zeros, 1);
  job.workers[1] = nullptr;
  const Status status = job.Run();
  CHECK(status.message() ==
        "worker 1 is lost: somebody at server0: the other end closed the "
        "connection");
  const Status heard = job.workers[0]->Pump();
  CHECK(heard.message() == "server 0 (server0): " + status.message());
}

TEST_CASE("a server that is gone ends the job with its name") {
  Job job({}, KeysOf({10, 20}), {}, 2);
  const std::vector<float> zeros(20);
  job.workers[0]->Init(0, std::as_bytes(std::span(zeros).first(10)));
  job.workers[0]->Init(1, std::as_bytes(std::span(zeros)));
  REQUIRE(job.Run().ok());
  job.servers[1] = nullptr;
  job.workers[0]->Push(0, std::span(zeros).first(10), 1);
  CHECK(job.Run().message().starts_with("server 1 (server1) is lost: "));
}

TEST_CASE("who has finished is not waited for") {
  Settings settings;
  settings.workers = 2;
  Job job({}, KeysOf({4}), settings, 1);
  const std::vector<float> zeros(4), ones(4, 1);
  job.workers[0]->Init(0, std::as_bytes(std::span(zeros)));
  REQUIRE(job.Run().ok());
  job.workers[0]->Push(0, ones, 1);
  job.workers[1]->Finish();
  REQUIRE(job.Run().ok());
  std::vector<float> value(4);
  job.workers[0]->Pull(0, std::as_writable_bytes(std::span(value)));
  REQUIRE(job.Run().ok());
  CHECK(value == ones);
}

TEST_CASE("who ends a connection says to whom and why") {
  Job job({}, KeysOf({4}), {}, 1);
  const auto transport = job.network.Join();
  std::string said;
  ClientOptions options;
  options.servers = {"server0"};
  options.settings.keys = Digest(job.table);
  options.ends = [&](const std::string& sentence) { said = sentence; };
  Client worker(*transport, job.table, options);
  const std::vector<float> zeros(4);
  worker.Init(0, std::as_bytes(std::span(zeros)));
  const auto pass = [&](Time time, bool server) {
    const Time end = job.network.now() + time;
    while (job.network.now() < end && said.empty()) {
      REQUIRE(worker.Pump().ok());
      if (server) REQUIRE(job.servers[0]->Pump().ok());
      job.network.Advance(job.network.now() + kSecond / 100);
    }
  };
  pass(kSecond, true);
  REQUIRE(worker.idle());
  CHECK(said == "");
  pass(2 * Patience().silence, false);
  CHECK(said.starts_with("worker 0 ends its connection to server 0: "));
  CHECK(said.find("nothing was heard for") != std::string::npos);
}

TEST_CASE("nodes that are set differently say so") {
  Settings settings;
  settings.workers = 2;
  Job job({}, KeysOf({4}), settings, 1);
  const auto transport = job.network.Join();
  ClientOptions options;
  options.rank = 1;
  options.servers = {"server0"};
  options.settings.workers = 3;
  Client other(*transport, job.table, options);
  Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) {
    status = other.Pump();
    (void)job.servers[0]->Pump().ok();
    job.network.Advance(job.network.now() + kSecond / 1000);
  }
  CHECK(status.message().find("worker 1 is set to 'dist_sync, 3 workers, ") !=
        std::string::npos);
}

}  // namespace
}  // namespace mxc::kvstore
