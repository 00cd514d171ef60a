// SPDX-License-Identifier: Apache-2.0
// Servers of two processes: whichever dies, stops or is cut off, nothing is lost
// and nothing counts twice. replicas.sh runs 10^4 courses of events.
#include <cmath>

#include "tests/kvstore/rounds.h"

namespace mxc::kvstore {
namespace {

uint64_t PairSeeds() { return NumberOfSeeds(60); }

ServerFaults PairFaults(uint64_t seed) {
  ServerFaults faults;
  faults.pairs = true;
  faults.deaths = seed % 3 == 0 ? 0 : 0.004;
  faults.stops = seed % 3 == 1 ? 0 : 0.002;
  faults.cuts = seed % 5 < 2 ? 0 : 0.002;
  faults.lags = seed % 4 == 0 ? 0 : 0.004;
  faults.longest_word = seed % 2 == 0 ? kSecond / 100 : kSecond;
  return faults;
}

TEST_CASE("pairs: the same bytes, whatever process dies, stops or is cut off") {
  int killed = 0, stopped = 0, cut = 0, superseded = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + PairSeeds(); ++seed) {
    Settings settings;
    settings.workers = 1 + seed % 3;
    settings.cut_from = seed % 4 < 2 ? 500 : 1'000'000;
    settings.slice = seed % 3 == 1 ? SliceOf(seed) : 0;
    const Outcome outcome =
        RunRounds(seed, FewerBreaks(seed), settings,
                  static_cast<uint32_t>(1 + seed % 2), PairFaults(seed));
    killed += outcome.killed;
    stopped += outcome.stopped;
    cut += outcome.cut;
    superseded += outcome.superseded;
    RequireExpected(outcome, seed, settings.workers);
  }
  CHECK(killed > 0);
  CHECK(superseded > 0);
  MESSAGE("killed " << killed << ", stopped " << stopped << ", cut off " << cut
                    << "; " << superseded << " lost their place");
}

// Integers whose sums are exact in any order.
TEST_CASE("pairs, async: every push counts once") {
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + PairSeeds() / 2;
       ++seed) {
    Settings settings;
    settings.mode = Mode::kAsync;
    settings.workers = 1 + seed % 3;
    const KeyTable keys = KeysOf({5, 700});
    Job job(FewerBreaks(seed), keys, settings, 1, PairFaults(seed),
            MakeAddingShelf, OnLoss::kWait);
    const std::vector<float> zeros(700);
    for (uint32_t key = 0; key < 2; ++key) {
      job.workers[0]->Init(
          key, std::as_bytes(std::span(zeros).first(keys[key].elements())));
    }
    const auto run = [&] {
      const Status status = job.Run();
      REQUIRE_MESSAGE(status.ok(), seed << ": " << status.message());
    };
    run();
    float sum = 0;
    for (int round = 0; round < 10; ++round) {
      std::deque<std::vector<float>> gradients;
      for (uint32_t rank = 0; rank < settings.workers; ++rank) {
        const auto value = static_cast<float>(1 + rank * 100 + round);
        const auto& gradient = gradients.emplace_back(700, value);
        for (uint32_t key = 0; key < 2; ++key) {
          job.workers[rank]->Push(
              key, std::span(gradient).first(keys[key].elements()), 1);
        }
        sum += value;
      }
      run();
    }
    for (uint32_t key = 0; key < 2; ++key) {
      std::vector<float> value(keys[key].elements());
      job.workers[0]->Pull(key, std::as_writable_bytes(std::span(value)));
      run();
      REQUIRE_MESSAGE(value == std::vector<float>(value.size(), sum),
                      "seed " << seed);
    }
    const Status status = job.Finish();
    REQUIRE_MESSAGE(status.ok(), seed << ": " << status.message());
  }
}

// A job of one pair and one key, whose value is the sum of what was pushed.
class PairJob {
 public:
  explicit PairJob(uint64_t seed, uint32_t workers = 2, Mode mode = Mode::kSync)
      : job(Delays(seed), KeysOf({kElements}), Of(workers, mode), 1,
            {0, true}) {
    const std::vector<float> zeros(kElements);
    job.workers[0]->Init(0, std::as_bytes(std::span(zeros)));
    Run();
    while (!job.MayDie(0)) Turns(1);  // until it has a backup
  }

  void Push(float value) {
    gradient_.assign(kElements, value);
    for (auto& worker : job.workers) worker->Push(0, gradient_, 1);
  }
  void Run() {
    const Status status = job.Run();
    REQUIRE_MESSAGE(status.ok(), status.message());
  }
  void Turns(uint64_t count) {
    for (; count > 0; --count) REQUIRE(job.Turn().ok());
  }
  void Await(Time span) {
    const Time end = job.network.now() + span;
    while (job.network.now() < end) REQUIRE(job.Turn().ok());
  }
  float Value() {
    std::vector<float> value(kElements);
    job.workers[0]->Pull(0, std::as_writable_bytes(std::span(value)));
    Run();
    CHECK(value == std::vector<float>(kElements, value[0]));
    return value[0];
  }
  size_t primary() const {
    return job.servers[1]->facts().role == PairRole::kPrimary ? 1 : 0;
  }

  static constexpr size_t kElements = 300;
  Job job;

 private:
  static Settings Of(uint32_t workers, Mode mode) {
    Settings settings;
    settings.workers = workers;
    settings.mode = mode;
    return settings;
  }
  static MemoryFaults Delays(uint64_t seed) {
    MemoryFaults faults;
    faults.seed = seed;
    faults.least_delay = kSecond / 1000;
    faults.most_delay = kSecond / 50;
    return faults;
  }
  std::vector<float> gradient_;
};

TEST_CASE("pairs: a primary that stood still for 30 s has no say") {
  const uint64_t seeds = NumberOfSeeds(20);
  Time longest = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    PairJob pair(seed, 1 + seed % 3,
                 seed % 2 == 0 ? Mode::kSync : Mode::kAsync);
    const float workers = 1 + float(seed % 3);
    pair.Push(1);
    pair.Turns(seed % 12);
    const size_t stopped = pair.primary();
    pair.job.Stop(stopped, 30 * kSecond);
    const Time begun = pair.job.network.now();
    pair.Run();
    longest = std::max(longest, pair.job.network.now() - begun);
    pair.Push(2);
    pair.Run();
    REQUIRE(pair.Value() == 3 * workers);
    pair.Await(35 * kSecond);
    REQUIRE(pair.job.superseded == 1);
    REQUIRE(pair.Value() == 3 * workers);
    // It is the other one's backup by now, and may take its place.
    REQUIRE(pair.job.MayDie(1 - stopped));
    pair.job.Kill(1 - stopped);
    pair.Push(4);
    pair.Run();
    REQUIRE(pair.Value() == 7 * workers);
  }
  CHECK(longest <= 10 * kSecond);
  MESSAGE("work went on within " << double(longest) / kSecond << " s");
}

TEST_CASE("pairs: a machine that is gone for good is not missed") {
  for (const size_t gone : {size_t{0}, size_t{1}}) {
    PairJob pair(gone);
    pair.Push(1);
    pair.Run();
    pair.job.Kill(gone);
    const Time begun = pair.job.network.now();
    pair.Push(2);
    pair.Run();
    CHECK(pair.job.network.now() - begun <= 10 * kSecond);
    pair.Push(4);
    pair.Run();
    CHECK(pair.Value() == 14);
    const ServerFacts left = pair.job.servers[1 - gone]->facts();
    CHECK(left.role == PairRole::kPrimary);
    CHECK(left.term == 3);
    CHECK(!left.paired);
    REQUIRE(pair.job.Finish().ok());
  }
}

TEST_CASE("pairs: two that are lost together end the job with a sentence") {
  PairJob pair(1);
  pair.Push(1);
  pair.Run();
  for (const size_t process : {size_t{0}, size_t{1}}) {
    pair.job.Kill(process);
  }
  for (const size_t process : {size_t{0}, size_t{1}}) {
    pair.job.Start(process);
  }
  pair.Push(2);
  CHECK(pair.job.Run().message() ==
        "server 0 and its backup were lost together, and what they knew with "
        "them");
}

// Some workers have lost the primary by then, others are still connected to it:
// the processes are the server once, not each for some workers.
TEST_CASE("pairs: one that is cut off for about as long as silence is borne") {
  for (uint64_t seed = 0; seed < NumberOfSeeds(20); ++seed) {
    PairJob pair(seed, 3);
    pair.Push(1);
    pair.Run();
    constexpr Time kFew = 4 * kSecond;
    const Time span = kFew + static_cast<Time>(seed) * kFew / 20;
    pair.job.Cut(seed % 2, span, seed % 4 > 1);
    for (int round = 0; round < 5; ++round) {
      pair.Push(1);
      pair.Run();
      pair.Await(3 * kSecond);
    }
    CHECK(pair.Value() == 18);
  }
}

TEST_CASE("pairs: a stranger is no partner") {
  PairJob pair(1);
  const auto transport = pair.job.network.Join();
  auto connected = transport->Connect("server0");
  REQUIRE(connected.ok());
  Channel channel(std::move(*connected), {}, transport->Now());
  Header header = HeaderOf(FrameType::kPartner);
  header.holds = 100;  // a birth
  channel.Send(header, EncodeText("server 0, another job"));
  REQUIRE(channel.Pump(transport->Now()).ok());
  Frame frame;
  StatusOr<bool> answer = false;
  for (int turns = 0; answer.ok(); ++turns) {
    REQUIRE(turns < 1000);
    pair.Turns(1);
    answer = channel.Receive(transport->Now(), frame);
    REQUIRE_MESSAGE((!answer.ok() || !*answer), "it is answered");
  }
  pair.Push(1);
  pair.Run();
  CHECK(pair.Value() == 2);
  CHECK(pair.job.superseded == 0);
}

}  // namespace
}  // namespace mxc::kvstore
