// SPDX-License-Identifier: Apache-2.0
// The store that programs use: in this process and in a job, under MXNet's
// names and under cxxnet's.
#include "runtime/kvstore/kvstore.h"

#include <doctest/doctest.h>

#include <thread>

#include "runtime/kvstore/shared_model.h"
#include "runtime/kvstore/transport/sockets.h"
#include "tests/kvstore/job.h"

namespace mxc::kvstore {
namespace {

using Values = std::vector<float>;

std::vector<std::span<const float>> Views(const std::vector<Values>& arrays) {
  return {arrays.begin(), arrays.end()};
}

TEST_CASE("arrays of devices are added in MXNet's order") {
  // In float32 1e8 + 1 = 1e8: which order it was shows.
  const std::vector<Values> arrays = {{1e8f}, {1}, {3}, {4}, {-1e8f}, {5}};
  Values sum(1);
  Reduce(Views(arrays), sum);
  CHECK(sum[0] == 1e8f + (((1.0f + 3.0f) + 4.0f) + -1e8f) + 5.0f);
  Reduce(Views({{1e8f}, {1}, {3}, {4}}), sum);
  CHECK(sum[0] == 1e8f + 8.0f);
}

// MXNet 1.9.1: kv.init(3, ones); kv.push(3, [1, 2, 3, 4]); kv.pull(3) gives 10,
// not 11: without an updater what was pushed takes the value's place.
TEST_CASE("local: a value is what all devices pushed last") {
  const KeyTable keys = KeysOf({2, 3});
  PlainShelf shelf(keys);
  const auto store = MakeLocalStore(keys, shelf);
  const Values ones(2, 1);
  Values a(2), b(2);
  const std::vector<std::span<float>> outs = {a, b};
  CHECK(store->Pull(0, outs).message() == "key 'key0' has no value yet");
  REQUIRE(store->Init(0, ones).ok());
  CHECK(store->Init(0, ones).message() == "key 'key0' has a value already");
  REQUIRE(store->Push(0, Views({{1, 1}, {2, 2}, {3, 3}, {4, 4}})).ok());
  REQUIRE(store->Pull(0, outs).ok());
  CHECK(a == Values{10, 10});
  CHECK(b == a);
  CHECK(store->Push(0, Views({{1, 1, 1}})).message() ==
        "key 'key0' has 2 elements, the array 3");
  CHECK(store->Push(7, Views({{1}})).message() == "there is no key 7");
}

TEST_CASE("local: an updater gets the sum and the learning rate") {
  const KeyTable keys = KeysOf({1});
  AddingShelf shelf(keys);
  const auto store = MakeLocalStore(keys, shelf);
  REQUIRE(store->Init(0, Values{5}).ok());
  store->SetLearningRate(0.5);
  REQUIRE(store->Push(0, Views({{1}, {3}})).ok());
  Values out(1);
  const std::vector<std::span<float>> outs = {out};
  REQUIRE(store->Pull(0, outs).ok());
  CHECK(out == Values{7});
}

KeyTable SparseKeys() {
  KeyTable keys = KeysOf({8});
  keys[0].width = 2;
  return keys;
}

TEST_CASE("local: rows of a key, in any order and more than once") {
  const KeyTable keys = SparseKeys();
  AddingShelf adding(keys);
  PlainShelf plain(keys);
  const std::vector<uint64_t> pushed = {3, 1, 3}, other = {1},
                              wanted = {3, 0, 3};
  const Values of_first = {1, 2, 3, 4, 5, 6}, of_second = {10, 20};
  const Rows gradients[] = {{pushed, of_first}, {other, of_second}};
  const auto train = [&](Shelf& shelf, const Values& first) {
    const auto store = MakeLocalStore(keys, shelf);
    REQUIRE(store->Init(0, first).ok());
    REQUIRE(store->PushRows(0, gradients).ok());
    Values some(6), all(8);
    const WantedRows rows[] = {{wanted, some}};
    REQUIRE(store->PullRows(0, rows).ok());
    CHECK(some[0] == some[4]);
    const std::vector<std::span<float>> outs = {all};
    REQUIRE(store->Pull(0, outs).ok());
    CHECK(Values{some[2], some[3]} == Values{all[0], all[1]});
    return all;
  };
  CHECK(train(adding, Values(8, 1)) == Values{1, 1, 14, 25, 1, 1, 7, 9});
  // Without an updater the sum takes the value's place (MXNet's stored := sum).
  CHECK(train(plain, Values(8, 1)) == Values{0, 0, 13, 24, 0, 0, 6, 8});
}

TEST_CASE("rows that are not the key's are refused in a sentence") {
  KeyTable keys = SparseKeys();
  keys.push_back(KeysOf({8, 8})[1]);
  PlainShelf shelf(keys);
  const auto store = MakeLocalStore(keys, shelf);
  for (const uint32_t key : {0, 1}) REQUIRE(store->Init(key, Values(8)).ok());
  const std::vector<uint64_t> beyond = {4}, numbers = {0, 1};
  const Values row(2);
  const auto push = [&](uint32_t key, const Rows& rows) {
    return store->PushRows(key, std::span(&rows, 1)).message();
  };
  CHECK(push(0, {beyond, row}) ==
        "key 'key0' has 4 rows, and none of number 4");
  CHECK(push(0, {numbers, row}) ==
        "key 'key0' has rows of 2 elements; 2 rows have 2");
  CHECK(push(1, {numbers, row}) ==
        "gradients of key 'key1' are not of some rows alone");
  CHECK(store->Push(0, Views({Values(8)})).message() ==
        "gradients of key 'key0' are of some rows alone");
  CHECK(store->PushRows(0, {}).message() == "key 'key0': no array was given");
}

TEST_CASE("cxxnet's names: devices of one process, each on its own thread") {
  const KeyTable keys = KeysOf({3});
  AddingShelf shelf(keys);
  const auto store = MakeLocalStore(keys, shelf);
  SharedModel model(keys, *store, 2);
  REQUIRE(model.SetParam("eta", "0.5").ok());
  CHECK(model.SetParam("momentum", "0.9").message() ==
        "parameter 'momentum' cannot be '0.9'; expected learning_rate or eta "
        "and a number");
  REQUIRE(model.InitKey(0, Values(3)).ok());
  constexpr int kSteps = 50;
  std::vector<Values> seen(2, Values(3));
  int arrived[2] = {};
  const auto work = [&](int device) {
    const Values gradient(3, static_cast<float>(device + 1));
    for (int step = 0; step < kSteps; ++step) {
      if (!model.Push(0, device, gradient).ok()) return;
      model.PullReq(0, device, seen[static_cast<size_t>(device)],
                    [&, device] { ++arrived[device]; });
      if (!model.PullWait(0, device).ok()) return;
    }
  };
  std::thread other([&] { work(1); });
  work(0);
  other.join();
  CHECK(arrived[0] == kSteps);
  CHECK(arrived[1] == kSteps);
  CHECK(model.CheckWeight_(0, Values(3, 1.5f * kSteps)).ok());
  CHECK_FALSE(model.CheckWeight_(0, Values(3)).ok());
  CHECK(model.Push(0, 2, Values(3)).message() ==
        "key 0 of device 2; there are 1 keys and 2 devices");
}

// Two levels: two workers with two devices each, over sockets and threads.
TEST_CASE(
    "a job: devices are added in their process, processes on the server") {
  const KeyTable keys = KeysOf({1000});
  Settings settings;
  settings.workers = 2;
  settings.keys = Digest(keys);
  auto transport = MakeSockets();
  REQUIRE(transport.ok());
  auto listener = (*transport)->Listen("127.0.0.1:0");
  REQUIRE(listener.ok());
  AddingShelf shelf(keys);
  Server server(**transport, **listener, keys, shelf,
                {settings, {}, nullptr, ""});
  std::thread serving([&] { CHECK(Serve(server, **transport).ok()); });
  std::vector<Values> seen(4, Values(1000));
  const auto work = [&](uint32_t rank) {
    const auto sockets = MakeSockets();
    ClientOptions options;
    options.rank = rank;
    options.servers = {(*listener)->address()};
    options.settings = settings;
    Worker worker(**sockets, keys, options);
    const auto store = MakeJobStore(keys, worker);
    if (rank == 0) CHECK(store->Init(0, Values(1000)).ok());
    const std::vector<std::span<float>> outs = {seen[2 * rank],
                                                seen[2 * rank + 1]};
    CHECK(store->Pull(0, outs).ok());
    CHECK(store->Wait(0).ok());
    for (int step = 0; step < 20; ++step) {
      const std::vector<Values> gradients(2, Values(1000, 1.0f + float(rank)));
      CHECK(store->Push(0, Views(gradients)).ok());
      CHECK(store->Pull(0, outs).ok());
      CHECK(store->Wait(0).ok());
    }
    CHECK(worker.Finish().ok());
  };
  std::thread other([&] { work(1); });
  work(0);
  other.join();
  serving.join();
  for (const Values& values : seen) CHECK(values == Values(1000, 120));
}

}  // namespace
}  // namespace mxc::kvstore
