// SPDX-License-Identifier: Apache-2.0
// Whose gradients a server reads when one worker's link carries more than
// another's.
#include "tests/kvstore/job.h"

namespace mxc::kvstore {
namespace {

constexpr size_t kElements = 1 << 21;  // 8 MiB
constexpr uint64_t kSlice = 1 << 16;

// Two workers that push one key and want its value.
struct Race {
  Race() : job({}, KeysOf({kElements}), Sliced(), 1) {
    job.workers[0]->Init(0, std::as_bytes(std::span(gradient)));
    REQUIRE(job.Run().ok());
    for (uint32_t rank = 0; rank < 2; ++rank) {
      job.workers[rank]->PushPull(
          0, gradient, 1, std::as_writable_bytes(std::span(values[rank])));
    }
  }
  static Settings Sliced() {
    Settings settings;
    settings.workers = 2;
    settings.slice = kSlice;
    return settings;
  }
  // Until the server has received as much as one of them sends; worker 1 has a
  // turn after so many of worker 0.
  uint64_t SentAfter(int turns) {
    constexpr Time kTurn = kSecond / 10'000;
    for (int i = 1; job.servers[0]->facts().received < 4 * kElements; ++i) {
      REQUIRE(i < 100'000);
      REQUIRE(job.workers[0]->Pump().ok());
      if (i % turns == 0) REQUIRE(job.workers[1]->Pump().ok());
      REQUIRE(job.servers[0]->Pump().ok());
      job.network.Advance(job.network.now() + kTurn);
    }
    return job.servers[0]->facts().sent;
  }

  std::vector<float> gradient = std::vector<float>(kElements, 1);
  std::vector<float> values[2] = {gradient, gradient};
  Job job;
};

// Half of what both send makes half of the slices whole, and they are answered.
TEST_CASE("the worker with the faster link waits for the other one") {
  const uint64_t all = 2 * 4 * kElements;
  CHECK(Race().SentAfter(1) > all / 3);
  CHECK(Race().SentAfter(5) > all / 3);
}

TEST_CASE("a worker that sends nothing holds nobody up") {
  CHECK(Race().SentAfter(1'000'000) == 0);
}

// Within the moment in which a pause counts as sending still.
TEST_CASE("a worker that has not begun its next round holds nobody up") {
  Race race;
  REQUIRE(race.job.Run().ok());
  MemoryNetwork& network = race.job.network;
  const uint64_t before = race.job.servers[0]->facts().received;
  race.job.workers[0]->PushPull(
      0, race.gradient, 1, std::as_writable_bytes(std::span(race.values[0])));
  const Time end = network.now() + kSecond / 100;
  while (network.now() < end) {
    REQUIRE(race.job.workers[0]->Pump().ok());
    REQUIRE(race.job.servers[0]->Pump().ok());
    network.Advance(network.now() + kSecond / 10'000);
  }
  CHECK(race.job.servers[0]->facts().received == before + 4 * kElements);
}

}  // namespace
}  // namespace mxc::kvstore
