// SPDX-License-Identifier: Apache-2.0
// Messages between workers, and sums by gloo over them.
#include <doctest/doctest.h>

#include <thread>

#include "runtime/kvstore/collective/all_reduce.h"
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

#ifdef MXC_HAS_GLOO

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

// A thread for each worker.
template <class Work>
void OnAll(uint32_t workers, bool encrypted, Work work) {
  std::vector<std::unique_ptr<Mesh>> meshes = MakeMeshes(workers, encrypted);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < workers; ++rank) {
    threads.emplace_back([&, rank] {
      auto all_reduce = AllReduce::Make(std::move(meshes[rank]));
      CHECK_MESSAGE(all_reduce.ok(), all_reduce.status().message());
      if (all_reduce.ok()) work(rank, **all_reduce);
    });
  }
  for (std::thread& thread : threads) thread.join();
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
    OnAll(workers, encrypted, [&](uint32_t rank, AllReduce& all_reduce) {
      for (const size_t size : sizes) {
        auto& values = sums[rank].emplace_back(size);
        for (size_t i = 0; i < size; ++i) values[i] = ValueOf(rank, i);
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
  OnAll(kWorkers, true, [&](uint32_t rank, AllReduce& all_reduce) {
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
