// SPDX-License-Identifier: Apache-2.0
// Which keys are cut, where, and that a cut one is trained like a whole one.
#include "runtime/kvstore/parts.h"

#include "tests/kvstore/job.h"

namespace mxc::kvstore {
namespace {

Settings Over(uint32_t servers, uint64_t cut_from) {
  Settings settings;
  settings.servers = servers;
  settings.cut_from = cut_from;
  return settings;
}

// round(n / S * i), as MXNet's kvstore_dist.h has it for 10 over 4: 2.5 is
// rounded away from 0.
TEST_CASE("a large key has a part on each server") {
  const Parts parts(KeysOf({3, 10, 4}), Over(4, 5));
  CHECK(parts.of == std::vector<uint32_t>{0, 1, 5, 6});
  const uint64_t begins[] = {0, 3, 5, 8}, counts[] = {3, 2, 3, 2};
  for (uint32_t i = 0; i < 4; ++i) {
    CHECK(parts.parts[1 + i].key == 1);
    CHECK(parts.parts[1 + i].begin == begins[i]);
    CHECK(parts.parts[1 + i].server == i);
    CHECK(parts.table[1 + i].elements() == counts[i]);
  }
  // The rest is dealt out by size, as if the large one were not there.
  CHECK(parts.parts[0].server == 1);
  CHECK(parts.parts[5].server == 0);
}

TEST_CASE("what the optimizer keeps for a key is cut with it, or neither is") {
  KeyTable keys = KeysOf({10});
  keys.push_back({"momentum", 40, false, 0});
  CHECK(Parts(keys, Over(2, 5)).table.size() == 4);
  // A number for the whole key.
  keys.push_back({"norm", 8, false, 0});
  CHECK(Parts(keys, Over(2, 5)).table.size() == 3);
  keys.pop_back();
  keys[0].indivisible = true;
  CHECK(Parts(keys, Over(2, 5)).table.size() == 2);
}

TEST_CASE("a key is not cut into nothing") {
  CHECK(Parts(KeysOf({3}), Over(4, 0)).table.size() == 1);
  CHECK(Parts(KeysOf({4}), Over(4, 0)).table.size() == 4);
}

TEST_CASE("what a server has of a key travels in slices of nearly equal size") {
  Settings settings = Over(2, 10);
  settings.slice = 3;
  const Parts parts(KeysOf({10, 4, 3}), settings);
  CHECK(parts.of == std::vector<uint32_t>{0, 4, 6, 7});
  // Of 5 on either server, round(5 / 2) come first.
  const uint64_t begins[] = {0, 3, 5, 8, 0, 2, 0};
  const uint32_t servers[] = {0, 0, 1, 1};
  for (size_t i = 0; i < 7; ++i) CHECK(parts.parts[i].begin == begins[i]);
  for (size_t i = 0; i < 4; ++i) CHECK(parts.parts[i].server == servers[i]);
  CHECK(parts.table[3].elements() == 2);
  KeyTable whole = KeysOf({10});
  whole[0].indivisible = true;
  CHECK(Parts(whole, settings).table.size() == 1);
}

// The same gradients on one server and on three, cut or not, in slices or not,
// by each codec.
TEST_CASE("values do not depend on the cut, nor do residuals") {
  constexpr size_t kElements = 1000;
  const auto train = [](const char* codec, uint32_t servers, uint64_t cut,
                        uint64_t slice = 0) {
    Settings settings;
    settings.workers = 2;
    settings.cut_from = cut;
    settings.slice = slice;
    settings.compression = *ParseCompression(codec);
    Job job({}, KeysOf({kElements}), settings, servers);
    std::vector<float> values[] = {std::vector<float>(kElements),
                                   std::vector<float>(kElements)};
    job.workers[0]->Init(0, std::as_bytes(std::span(values[0])));
    REQUIRE(job.Run().ok());
    std::mt19937 random(7);
    for (int round = 0; round < 5; ++round) {
      std::vector<float> gradients[] = {std::vector<float>(kElements),
                                        std::vector<float>(kElements)};
      for (uint32_t rank = 0; rank < 2; ++rank) {
        for (float& value : gradients[rank]) {
          value = float(random() % 2001) / 1000 - 1;
        }
        job.workers[rank]->PushPull(
            0, gradients[rank], 0.5,
            std::as_writable_bytes(std::span(values[rank])));
      }
      REQUIRE(job.Run().ok());
      CHECK(values[0] == values[1]);
    }
    CHECK(job.workers[0]->version(0) == 5);
    const auto residual = job.workers[1]->Residual(0);
    values[0].insert(values[0].end(), residual.begin(), residual.end());
    return values[0];
  };
  for (const char* codec : {"none", "f16", "2bit", "1bit"}) {
    const auto expected = train(codec, 1, 1'000'000);
    CHECK(train(codec, 3, 100) == expected);
    CHECK(train(codec, 3, 1'000'000) == expected);
    CHECK(train(codec, 1, 1'000'000, 64) == expected);
    CHECK(train(codec, 3, 100, 64) == expected);
  }
}

}  // namespace
}  // namespace mxc::kvstore
