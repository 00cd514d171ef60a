// SPDX-License-Identifier: Apache-2.0
// Messages between workers, and sums by gloo over them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "runtime/kvstore/collective/all_reduce.h"
#include "runtime/kvstore/collective/shard_exchange.h"
#include "runtime/kvstore/gloo/ring.h"
#include "runtime/kvstore/transport/sockets.h"
#include "tests/kvstore/job.h"

namespace mxc::kvstore {
namespace {

std::span<std::byte> BytesOf(std::string& text) {
  return std::as_writable_bytes(std::span(text));
}

Frame MessageOf(uint64_t slot, const std::string& text) {
  Frame frame;
  frame.type = FrameType::kMessage;
  frame.seq = slot;
  frame.payload = std::as_bytes(std::span(text));
  frame.length = static_cast<uint32_t>(text.size());
  frame.total = text.size();
  return frame;
}

TEST_CASE("messages come to who asks for their slot, in order") {
  Inbox inbox;
  std::string a = "..", b = "..", c = "..", said;
  const auto saying = [&said](char letter) {
    return [&said, letter](const Status& status) {
      said += status.ok() ? letter : '!';
    };
  };
  REQUIRE(inbox.Take(MessageOf(7, "xy")).ok());  // before it is asked for
  REQUIRE(inbox.Ask(7, BytesOf(a), saying('a')).ok());
  REQUIRE(inbox.Ask(7, BytesOf(b), saying('b')).ok());
  REQUIRE(inbox.Ask(8, BytesOf(c), saying('c')).ok());
  REQUIRE(inbox.Take(MessageOf(8, "uv")).ok());
  CHECK(said == "ac");
  CHECK(a == "xy");
  CHECK(c == "uv");
  inbox.Fail(Fail(StatusCode::kIo, "lost"));
  CHECK(said == "ac!");
}

TEST_CASE(
    "a message that does not fit, or comes unasked and large, is refused") {
  std::string a = "...";
  Inbox inbox;
  bool called = false;
  REQUIRE(inbox.Ask(1, BytesOf(a), [&](const Status&) { called = true; }).ok());
  CHECK(!inbox.Take(MessageOf(1, "four")).ok());
  CHECK(!called);
  Frame large = MessageOf(2, "part");
  large.total = uint64_t{1} << 40;
  CHECK(!inbox.Take(large).ok());
  Frame late = MessageOf(3, "part");
  late.total = 12;
  late.offset = 8;
  CHECK(!inbox.Take(late).ok());
}

TEST_CASE("a key of two workers is for nobody else") {
  KeyTable keys = KeysOf({2, 2});
  keys[1].writer = 0;
  keys[1].reader = 1;
  Settings settings;
  settings.workers = 3;
  Job job({}, keys, settings, 1);
  const std::vector<float> value = {3, 4};
  job.workers[0]->Init(1, std::as_bytes(std::span(value)));
  REQUIRE(job.Run().ok());
  std::vector<float> friends(2), others(2);
  job.workers[1]->Pull(1, std::as_writable_bytes(std::span(friends)));
  REQUIRE(job.Run().ok());
  CHECK(friends == value);
  job.workers[2]->Pull(1, std::as_writable_bytes(std::span(others)));
  for (int i = 0; i < 50 && job.Turn().ok(); ++i) continue;
  CHECK(!job.workers[2]->idle());
  CHECK(others == std::vector<float>{0, 0});
}

std::shared_ptr<Tls> MakeTls(Side side, const Credentials& own) {
  auto tls = Tls::Make(side, own);
  REQUIRE(tls.ok());
  return std::move(*tls);
}

// Workers of one process, connected as those of a job are.
std::vector<std::unique_ptr<Mesh>> MakeMeshes(uint32_t workers,
                                              bool encrypted) {
  std::vector<std::unique_ptr<Mesh>> meshes;
  std::vector<std::string> addresses;
  std::vector<Credentials> secrets;
  for (uint32_t rank = 0; rank < workers; ++rank) {
    auto transport = MakeSockets();
    REQUIRE(transport.ok());
    MeshOptions options;
    options.rank = rank;
    options.workers = workers;
    auto listener = (*transport)->Listen("127.0.0.1:0");
    REQUIRE(listener.ok());
    addresses.push_back((*listener)->address());
    options.listener = std::move(*listener);
    const auto secret = MakeSecret();
    REQUIRE(secret.ok());
    secrets.push_back(*secret);
    if (encrypted) options.accepting = MakeTls(Side::kServer, *secret);
    for (uint32_t before = 0; before < rank; ++before) {
      MeshPeer& peer = options.peers.emplace_back();
      peer.rank = before;
      peer.address = addresses[before];
      Credentials own{WorkerIdentity(rank), {}};
      own.key = DeriveKey(secrets[before].key, own.identity);
      if (encrypted) peer.tls = MakeTls(Side::kClient, own);
    }
    meshes.push_back(
        std::make_unique<Mesh>(std::move(*transport), std::move(options)));
  }
  return meshes;
}

// A thread for each worker, which makes a Collective of its mesh.
template <class Collective, class Work>
void OnAll(uint32_t workers, bool encrypted, Work work) {
  std::vector<std::unique_ptr<Mesh>> meshes = MakeMeshes(workers, encrypted);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < workers; ++rank) {
    threads.emplace_back([&, rank] {
      auto made = Collective::Make(std::move(meshes[rank]));
      CHECK_MESSAGE(made.ok(), made.status().message());
      if (made.ok()) work(rank, **made);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Of values that lie one behind the other: so many belong to each worker.
std::vector<Round> RoundsOf(std::span<float> values,
                            const std::vector<size_t>& owned,
                            std::vector<double>* squares = nullptr) {
  RoundBuilder rounds(static_cast<uint32_t>(owned.size()));
  const uint64_t chunk = RingChunk(values.size(), owned.size());
  size_t begin = 0;
  for (uint32_t owner = 0; owner < owned.size(); ++owner) {
    const size_t end = begin + owned[owner];
    while (begin < end) {
      const size_t cut = std::min<size_t>(end, (begin / chunk + 1) * chunk);
      rounds.Add(owner, {values.subspan(begin, cut - begin),
                         static_cast<uint32_t>(begin / chunk),
                         squares != nullptr ? &(*squares)[owner] : nullptr});
      begin = cut;
    }
  }
  return rounds.Take();
}

// Sums whose bytes depend on the order of additions.
float FractionOf(uint32_t rank, size_t index) {
  return static_cast<float>((index * 7919 + rank * 104'729) % 1'000'003) / 3e3f;
}

// Some own nothing, some own less than a message, some many of them.
const std::vector<std::vector<size_t>> kOwned = {{5},
                                                 {3, 0},
                                                 {1, 2'500'000},
                                                 {1'500'000, 1'500'001},
                                                 {0, 700, 1},
                                                 {900'000, 2'000'003, 4},
                                                 {7, 0, 0, 1'300'000}};

TEST_CASE("each worker gets the sums that it owns, then all have all of them") {
  for (const std::vector<size_t>& owned : kOwned) {
    const auto workers = static_cast<uint32_t>(owned.size());
    size_t size = 0;
    for (const size_t count : owned) size += count;
    std::vector<std::vector<float>> values(workers, std::vector<float>(size));
    std::vector<std::vector<double>> squares(workers,
                                             std::vector<double>(workers));
    OnAll<ShardExchange>(
        workers, workers != 2, [&](uint32_t rank, ShardExchange& exchange) {
          for (size_t i = 0; i < size; ++i)
            values[rank][i] = FractionOf(rank, i);
          exchange.BeginSum(RoundsOf(values[rank], owned, &squares[rank]));
          exchange.BeginGather(RoundsOf(values[rank], owned));
          const Status status = exchange.Wait();
          CHECK_MESSAGE(status.ok(), status.message());
        });
    CAPTURE(workers);
    CAPTURE(size);
    for (uint32_t rank = 1; rank < workers; ++rank) {
      CHECK(values[rank] == values[0]);
    }
    // Nearly, in double precision; the bytes are AllReduce's, below.
    size_t wrong = 0, owner = 0, end = owned[0];
    std::vector<double> wanted(workers);
    for (size_t i = 0; i < size; ++i) {
      while (i >= end) end += owned[++owner];
      double sum = 0;
      for (uint32_t r = 0; r < workers; ++r) sum += FractionOf(r, i);
      wrong += std::abs(values[0][i] - sum) > 1e-6 * sum + 1e-6;
      const double own = FractionOf(static_cast<uint32_t>(owner), i);
      wanted[owner] += own * own;
    }
    CHECK(wrong == 0);
    for (uint32_t rank = 0; rank < workers; ++rank) {
      CHECK(squares[rank][rank] == doctest::Approx(wanted[rank]));
    }
  }
}

TEST_CASE("a worker that is gone ends the exchanges of the others") {
  constexpr uint32_t kWorkers = 3;
  std::vector<std::string> errors(kWorkers);
  OnAll<ShardExchange>(kWorkers, true,
                       [&](uint32_t rank, ShardExchange& exchange) {
                         std::vector<float> values(300'000, 1);
                         const std::vector<size_t> owned(kWorkers, 100'000);
                         exchange.BeginSum(RoundsOf(values, owned));
                         Status status = exchange.Wait();
                         // Worker 1 may be gone before others have its share.
                         if (rank != 1 && status.ok()) {
                           exchange.BeginSum(RoundsOf(values, owned));
                           status = exchange.Wait();
                         }
                         errors[rank] = status.message();
                       });
  CHECK(errors[1] == "");
  for (const uint32_t rank : {0u, 2u}) CHECK(errors[rank].find("worker") == 0);
}

#ifdef MXC_HAS_GLOO

TEST_CASE("sums that workers own have the bytes of those that all have") {
  for (const std::vector<size_t>& owned : kOwned) {
    const auto workers = static_cast<uint32_t>(owned.size());
    size_t size = 0;
    for (const size_t count : owned) size += count;
    std::vector<std::vector<float>> sums(workers, std::vector<float>(size));
    auto parts = sums;
    for (uint32_t rank = 0; rank < workers; ++rank) {
      for (size_t i = 0; i < size; ++i) sums[rank][i] = FractionOf(rank, i);
    }
    parts = sums;
    OnAll<AllReduce>(workers, false, [&](uint32_t rank, AllReduce& all_reduce) {
      all_reduce.Begin(sums[rank]);
      CHECK(all_reduce.Wait().ok());
    });
    OnAll<ShardExchange>(workers, false,
                         [&](uint32_t rank, ShardExchange& exchange) {
                           exchange.BeginSum(RoundsOf(parts[rank], owned));
                           CHECK(exchange.Wait().ok());
                         });
    CAPTURE(workers);
    CAPTURE(size);
    size_t begin = 0;
    for (uint32_t rank = 0; rank < workers; ++rank) {
      CHECK(std::equal(parts[rank].begin() + ptrdiff_t(begin),
                       parts[rank].begin() + ptrdiff_t(begin + owned[rank]),
                       sums[0].begin() + ptrdiff_t(begin)));
      begin += owned[rank];
    }
  }
}

// Whole numbers, whose sums are exact.
float ValueOf(uint32_t rank, size_t index) {
  return static_cast<float>((index * 7 + rank * 13) % 1000);
}

TEST_CASE("all workers get the sum, of any size, for any number of them") {
  const std::vector<size_t> sizes = {1, 2, 3, 1000, 700'001};
  for (const uint32_t workers : {1u, 2u, 3u, 4u}) {
    const bool encrypted = workers != 2;
    std::vector<std::vector<std::vector<float>>> sums(workers);
    OnAll<AllReduce>(workers, encrypted,
                     [&](uint32_t rank, AllReduce& all_reduce) {
                       for (const size_t size : sizes) {
                         auto& values = sums[rank].emplace_back(size);
                         for (size_t i = 0; i < size; ++i)
                           values[i] = ValueOf(rank, i);
                       }
                       for (auto& values : sums[rank]) all_reduce.Begin(values);
                       if (!all_reduce.Wait().ok()) sums[rank].clear();
                     });
    for (uint32_t rank = 0; rank < workers; ++rank) {
      CAPTURE(workers);
      REQUIRE(sums[rank].size() == sizes.size());
      int wrong = 0;
      for (const auto& values : sums[rank]) {
        for (size_t i = 0; i < values.size(); ++i) {
          float sum = 0;
          for (uint32_t r = 0; r < workers; ++r) sum += ValueOf(r, i);
          wrong += values[i] != sum;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a worker that is gone ends the sums of the others") {
  constexpr uint32_t kWorkers = 3;
  std::vector<std::string> errors(kWorkers);
  OnAll<AllReduce>(kWorkers, true, [&](uint32_t rank, AllReduce& all_reduce) {
    std::vector<float> values(100'000, 1);
    all_reduce.Begin(values);
    const Status first = all_reduce.Wait();
    if (rank == 1 || !first.ok()) return;
    all_reduce.Begin(values);
    errors[rank] = all_reduce.Wait().message();
  });
  CHECK(errors[1] == "");
  for (const uint32_t rank : {0u, 2u}) {
    CHECK(errors[rank].find("the sum over all workers: worker") == 0);
  }
}

#endif

}  // namespace
}  // namespace mxc::kvstore
