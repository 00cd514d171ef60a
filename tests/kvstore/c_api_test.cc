// SPDX-License-Identifier: Apache-2.0
// The KVStore of the C API: in one process, and as a job of two workers and a
// server that prove who they are.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "runtime/kvstore/credentials.h"
#include "runtime/mxc_kvstore.h"
#include "tests/kvstore/job.h"

namespace mxc::kvstore {
namespace {

std::string Said(mxc_status* status) {
  const std::string message = mxc_status_message(status);
  mxc_status_release(status);
  return message;
}

constexpr mxc_kvstore_key kKeys[] = {{"weight", 3}, {"bias", 1}};

mxc_kvstore_options Options(const char* kvstore) {
  mxc_kvstore_options options = MXC_KVSTORE_OPTIONS;
  options.kvstore = kvstore;
  options.keys = kKeys;
  options.key_count = 2;
  return options;
}

// Plain gradient descent; user_data counts.
void Descend(void* user_data, uint32_t key, uint64_t first, uint64_t count,
             const float* gradient, float* value, double rate) {
  ++*static_cast<int*>(user_data);
  CHECK(first + count <= kKeys[key].elements);
  for (uint64_t i = 0; i < count; ++i) {
    value[i] -= static_cast<float>(rate) * gradient[i];
  }
}

TEST_CASE("C: a local store adds devices and calls the updater") {
  int updates = 0;
  mxc_kvstore_options options = Options("local");
  options.updater = Descend;
  options.user_data = &updates;
  mxc_kvstore* store = nullptr;
  REQUIRE(Said(mxc_kvstore_open(&options, &store)) == "");
  const std::vector<float> first = {1, 2, 3}, a = {1, 1, 1}, b = {3, 2, 1};
  CHECK(Said(mxc_kvstore_init(store, 0, first.data())) == "");
  CHECK(Said(mxc_kvstore_init(store, 2, first.data())) == "there is no key 2");
  mxc_kvstore_set_learning_rate(store, 0.5);
  const float* gradients[] = {a.data(), b.data()};
  CHECK(Said(mxc_kvstore_push(store, 0, gradients, 2, 0)) == "");
  std::vector<float> x(3), y(3);
  float* const values[] = {x.data(), y.data()};
  CHECK(Said(mxc_kvstore_pull(store, 0, values, 2, 0)) == "");
  CHECK(Said(mxc_kvstore_wait(store, 0)) == "");
  CHECK(x == std::vector<float>{-1, 0.5, 2});
  CHECK(y == x);
  CHECK(updates == 1);
  CHECK(Said(mxc_kvstore_pull(store, 1, values, 1, 0)) ==
        "key 'bias' has no value yet");
  CHECK(Said(mxc_kvstore_finish(store)) == "");
  mxc_kvstore_close(store);
}

TEST_CASE("C: options that mean nothing are refused in a sentence") {
  mxc_kvstore* store = nullptr;
  mxc_kvstore_options options = Options("dist_sink");
  CHECK(Said(mxc_kvstore_open(&options, &store))
            .starts_with("kvstore 'dist_sink' is unknown; expected local, "));
  options = Options("dist_sync");
  CHECK(Said(mxc_kvstore_open(&options, &store)) ==
        "options without 'servers'");
  options.servers = "unix:/nowhere";
  options.rank = 3;
  CHECK(Said(mxc_kvstore_open(&options, &store)) == "rank 3 of 1");
  options.rank = 0;
  options.compression = "3bit";
  CHECK(Said(mxc_kvstore_open(&options, &store))
            .starts_with("compression '3bit' is unknown"));
  options = Options("local");
  const uint64_t widths[] = {2, 0};
  options.widths = widths;
  CHECK(Said(mxc_kvstore_open(&options, &store)) ==
        "key 'weight' has 3 elements, which are no rows of 2");
  options.key_count = 0;
  CHECK(Said(mxc_kvstore_open(&options, &store)) == "options without 'keys'");
}

TEST_CASE("C: a null is named") {
  mxc_kvstore_options options = Options("local");
  mxc_kvstore* s = nullptr;
  CHECK(Said(mxc_kvstore_open(nullptr, &s)) == "options without 'kvstore'");
  CHECK(Said(mxc_kvstore_open(&options, nullptr)) == "'store' is null");
  REQUIRE(Said(mxc_kvstore_open(&options, &s)) == "");
  const float one[3] = {1, 2, 3};
  float two[3] = {};
  const float* const in[] = {one, nullptr};
  float* const out[] = {two, nullptr};
  const uint64_t row = 0, counts[] = {1, 1};
  const uint64_t* const rows[] = {&row, nullptr};
  CHECK(Said(mxc_kvstore_init(nullptr, 0, one)) == "'store' is null");
  CHECK(Said(mxc_kvstore_init(s, 0, nullptr)) == "'value' is null");
  CHECK(Said(mxc_kvstore_push(nullptr, 0, in, 1, 0)) == "'store' is null");
  CHECK(Said(mxc_kvstore_push(s, 0, nullptr, 1, 0)) == "'gradients' is null");
  CHECK(Said(mxc_kvstore_push(s, 0, in, 2, 0)) ==
        "'gradients' is null for a device");
  CHECK(Said(mxc_kvstore_pull(nullptr, 0, out, 1, 0)) == "'store' is null");
  CHECK(Said(mxc_kvstore_pull(s, 0, nullptr, 1, 0)) == "'values' is null");
  CHECK(Said(mxc_kvstore_pull(s, 0, out, 2, 0)) ==
        "'values' is null for a device");
  CHECK(Said(mxc_kvstore_push_rows(nullptr, 0, rows, counts, in, 1, 0)) ==
        "'store' is null");
  CHECK(Said(mxc_kvstore_push_rows(s, 0, rows, nullptr, in, 1, 0)) ==
        "'counts' is null");
  CHECK(Said(mxc_kvstore_push_rows(s, 0, nullptr, counts, in, 1, 0)) ==
        "'rows' is null");
  CHECK(Said(mxc_kvstore_push_rows(s, 0, rows, counts, in, 2, 0)) ==
        "'rows' is null for a device");
  CHECK(Said(mxc_kvstore_pull_rows(nullptr, 0, rows, counts, out, 1, 0)) ==
        "'store' is null");
  CHECK(Said(mxc_kvstore_pull_rows(s, 0, rows, counts, nullptr, 1, 0)) ==
        "'values' is null");
  CHECK(Said(mxc_kvstore_wait(nullptr, 0)) == "'store' is null");
  CHECK(Said(mxc_kvstore_finish(nullptr)) == "'store' is null");
  CHECK(Said(mxc_kvstore_serve(nullptr)) == "options without 'kvstore'");
  mxc_kvstore_set_learning_rate(nullptr, 1);
  mxc_kvstore_close(nullptr);
  mxc_kvstore_close(s);
}

TEST_CASE("C: a job of two workers and two servers, with a key on both") {
  const TestFolder folder;
  const auto secret = MakeSecret();
  REQUIRE(secret.ok());
  const auto write = [&](const std::string& identity, const Key& key) {
    REQUIRE(WriteCredentials(folder.File(identity), {identity, key}).ok());
    return folder.File(identity);
  };
  const std::string files[] = {
      write("worker-0", DeriveKey(secret->key, "worker-0")),
      write("worker-1", DeriveKey(secret->key, "worker-1")),
      write("server", secret->key)};
  const std::string addresses =
      "unix:" + folder.File("socket0") + ",unix:" + folder.File("socket1");
  int updates[2] = {};
  mxc_kvstore_options shared = Options("dist_sync");
  shared.workers = 2;
  shared.servers = addresses.c_str();
  shared.updater = Descend;
  shared.cut_from = 2;
  const auto serve = [&](uint32_t rank) {
    mxc_kvstore_options options = shared;
    options.rank = rank;
    options.user_data = &updates[rank];
    options.key_file = files[2].c_str();
    CHECK(Said(mxc_kvstore_serve(&options)) == "");
  };
  std::thread servers[] = {std::thread(serve, 0), std::thread(serve, 1)};
  std::vector<float> seen[2] = {std::vector<float>(3), std::vector<float>(3)};
  const auto work = [&](uint32_t rank) {
    mxc_kvstore_options options = shared;
    options.rank = rank;
    options.key_file = files[rank].c_str();
    mxc_kvstore* store = nullptr;
    CHECK(Said(mxc_kvstore_open(&options, &store)) == "");
    const std::vector<float> zeros(3), gradient(3, 1.0f + float(rank));
    if (rank == 0) CHECK(Said(mxc_kvstore_init(store, 0, zeros.data())) == "");
    float* value = seen[rank].data();
    CHECK(Said(mxc_kvstore_pull(store, 0, &value, 1, 0)) == "");
    CHECK(Said(mxc_kvstore_wait(store, 0)) == "");
    const float* pushed = gradient.data();
    for (int step = 0; step < 10; ++step) {
      CHECK(Said(mxc_kvstore_push(store, 0, &pushed, 1, 0)) == "");
      CHECK(Said(mxc_kvstore_pull(store, 0, &value, 1, 0)) == "");
      CHECK(Said(mxc_kvstore_wait(store, 0)) == "");
    }
    CHECK(Said(mxc_kvstore_finish(store)) == "");
    mxc_kvstore_close(store);
  };
  std::thread other([&] { work(1); });
  work(0);
  other.join();
  for (std::thread& server : servers) server.join();
  for (const auto& values : seen) CHECK(values == std::vector<float>(3, -30));
  CHECK(updates[0] == 10);
  CHECK(updates[1] == 10);
}

#ifdef MXC_HAS_GLOO

// Each worker makes both updates, by the mean of what both push.
TEST_CASE("C: workers that sum among themselves") {
  const TestFolder folder;
  const std::string address = "unix:" + folder.File("socket");
  int updates[2] = {};
  mxc_kvstore_options shared = Options("allreduce");
  shared.workers = 2;
  shared.servers = address.c_str();
  shared.updater = Descend;
  shared.mean = 1;
  std::thread server([&] { CHECK(Said(mxc_kvstore_serve(&shared)) == ""); });
  std::vector<float> seen[2] = {std::vector<float>(3), std::vector<float>(3)};
  const auto work = [&](uint32_t rank) {
    mxc_kvstore_options options = shared;
    options.rank = rank;
    options.user_data = &updates[rank];
    mxc_kvstore* store = nullptr;
    CHECK(Said(mxc_kvstore_open(&options, &store)) == "");
    const std::vector<float> first = {1, 2, 3},
                             gradient(3, 1.0f + 2 * float(rank));
    if (rank == 0) CHECK(Said(mxc_kvstore_init(store, 0, first.data())) == "");
    float* value = seen[rank].data();
    const float* pushed[] = {gradient.data(), gradient.data()};
    for (int step = 0; step < 5; ++step) {
      CHECK(Said(mxc_kvstore_push(store, 0, pushed, 2, 0)) == "");
      CHECK(Said(mxc_kvstore_pull(store, 0, &value, 1, 0)) == "");
      CHECK(Said(mxc_kvstore_wait(store, 0)) == "");
    }
    CHECK(Said(mxc_kvstore_push(store, 2, pushed, 1, 0)) ==
          "there is no key 2");
    CHECK(Said(mxc_kvstore_finish(store)) == "");
    mxc_kvstore_close(store);
  };
  std::thread other([&] { work(1); });
  work(0);
  other.join();
  server.join();
  for (const auto& values : seen) {
    CHECK(values == std::vector<float>{-19, -18, -17});
  }
  CHECK(updates[0] == 5);
  CHECK(updates[1] == 5);
}

#endif

// Rows of one element over both servers, and two devices.
TEST_CASE("C: row-sparse keys in a job") {
  const TestFolder folder;
  const auto secret = MakeSecret();
  REQUIRE(secret.ok());
  const std::string server_key = folder.File("server-key"),
                    worker_key = folder.File("worker-key");
  REQUIRE(WriteCredentials(server_key, {"server", secret->key}).ok());
  REQUIRE(WriteCredentials(worker_key,
                           {"worker-0", DeriveKey(secret->key, "worker-0")})
              .ok());
  const std::string addresses =
      "unix:" + folder.File("socket0") + ",unix:" + folder.File("socket1");
  const uint64_t widths[] = {1, 0}, rows_of_one[] = {2, 0},
                 rows_of_other[] = {2};
  const uint64_t all_rows[] = {0, 1, 2}, counts[] = {2, 1}, most = 3;
  int updates[2] = {};
  mxc_kvstore_options options = Options("dist_sync");
  options.servers = addresses.c_str();
  options.updater = Descend;
  options.cut_from = 2;
  options.widths = widths;
  const auto serve = [&](uint32_t rank) {
    mxc_kvstore_options of_server = options;
    of_server.rank = rank;
    of_server.user_data = &updates[rank];
    of_server.key_file = server_key.c_str();
    CHECK(Said(mxc_kvstore_serve(&of_server)) == "");
  };
  std::thread servers[] = {std::thread(serve, 0), std::thread(serve, 1)};
  options.key_file = worker_key.c_str();
  mxc_kvstore* store = nullptr;
  CHECK(Said(mxc_kvstore_open(&options, &store)) == "");
  const std::vector<float> zeros(3), one = {1, 2}, other = {3};
  CHECK(Said(mxc_kvstore_init(store, 0, zeros.data())) == "");
  const uint64_t* const pushed[] = {rows_of_one, rows_of_other};
  const float* const gradients[] = {one.data(), other.data()};
  const uint64_t* const wanted[] = {all_rows};
  std::vector<float> values(3);
  float* const outs[] = {values.data()};
  for (int step = 0; step < 5; ++step) {
    CHECK(Said(mxc_kvstore_push_rows(store, 0, pushed, counts, gradients, 2,
                                     0)) == "");
    CHECK(Said(mxc_kvstore_pull_rows(store, 0, wanted, &most, outs, 1, 0)) ==
          "");
    CHECK(Said(mxc_kvstore_wait(store, 0)) == "");
  }
  CHECK(values == std::vector<float>{-10, 0, -20});
  CHECK(updates[0] + updates[1] == 10);
  CHECK(Said(mxc_kvstore_push(store, 0, gradients, 1, 0)) ==
        "gradients of key 'weight' are of some rows alone");
  CHECK(Said(mxc_kvstore_finish(store)) == "");
  mxc_kvstore_close(store);
  for (std::thread& server : servers) server.join();
}

}  // namespace
}  // namespace mxc::kvstore
