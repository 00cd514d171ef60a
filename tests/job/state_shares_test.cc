// SPDX-License-Identifier: Apache-2.0
// Who keeps which part of what an optimizer keeps.
#include "runtime/train/step/state_shares.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace mxc::train {
namespace {

constexpr uint64_t kCutFrom = 100;

// A parameter and a state of as many elements for it.
void AddParameter(ArtifactKeys& keys, uint64_t elements, uint64_t grain,
                  uint64_t width = 0, bool indivisible = false) {
  for (const bool trained : {true, false}) {
    kvstore::KeySpec key;
    key.name = "key" + std::to_string(keys.table.size());
    key.bytes = elements * sizeof(float);
    key.trained = trained;
    key.group = static_cast<uint32_t>(keys.table.size()) - (trained ? 0 : 1);
    key.grain = grain;
    key.width = trained ? width : 0;
    key.indivisible = trained && indivisible;
    keys.table.push_back(key);
  }
  keys.position = static_cast<uint32_t>(keys.table.size());
}

StateShares SharesOf(const ArtifactKeys& keys, uint32_t workers) {
  auto shares = StateShares::Of(keys, workers, kCutFrom);
  REQUIRE(shares.ok());
  return std::move(*shares);
}

// Parts of a key, in order, without a gap; returns how many there are.
size_t CheckParts(const StateShares& shares, uint32_t key, uint64_t elements,
                  uint64_t unit) {
  uint64_t at = 0;
  for (const StateShares::Part& part : shares.Parts(key)) {
    CHECK(part.begin == at);
    CHECK(part.begin % unit == 0);
    at += part.count;
    const auto& state = shares.Parts(key + 1);
    CHECK(std::ranges::count_if(state, [&](const StateShares::Part& other) {
            return other.begin == part.begin && other.count == part.count &&
                   other.worker == part.worker;
          }) == 1);
  }
  CHECK(at == elements);
  return shares.Parts(key).size();
}

TEST_CASE("large parameters are cut where tasks or rows end, all is shared") {
  ArtifactKeys keys;
  AddParameter(keys, 6400, 64);
  AddParameter(keys, 300, 1);
  AddParameter(keys, 90, 1);             // too small
  AddParameter(keys, 1000, 0);           // uneven tasks
  AddParameter(keys, 1200, 1, 0, true);  // its update needs a norm
  AddParameter(keys, 1203, 100, 3);      // a table of 401 rows
  for (const uint32_t workers : {1u, 2u, 3u, 5u}) {
    CAPTURE(workers);
    const StateShares shares = SharesOf(keys, workers);
    CHECK(CheckParts(shares, 0, 6400, 64) == workers);
    CHECK(CheckParts(shares, 2, 300, 1) == workers);
    CHECK(CheckParts(shares, 4, 90, 1) == 1);
    CHECK(CheckParts(shares, 6, 1000, 1) == 1);
    CHECK(CheckParts(shares, 8, 1200, 1) == 1);
    CHECK(CheckParts(shares, 10, 1203, 3) == workers);
    // Of each parameter the optimizer keeps as much again.
    std::vector<uint64_t> kept(workers);
    for (uint32_t key = 1; key < keys.position; key += 2) {
      for (const StateShares::Part& part : shares.Parts(key)) {
        kept[part.worker] += 4 * part.count;
      }
    }
    CHECK(shares.OfOptimizer().all ==
          4 * (6400 + 300 + 90 + 1000 + 1200 + 1203));
    CHECK(shares.OfOptimizer().most == std::ranges::max(kept));
    CHECK(kept[0] > 0);
    CHECK(shares.OfParameters().all == shares.OfOptimizer().all - 4 * 90);
  }
}

TEST_CASE("what all parameters share cannot be dealt") {
  ArtifactKeys keys;
  AddParameter(keys, 6400, 64);
  keys.shares = true;
  const auto shares = StateShares::Of(keys, 2, kCutFrom);
  REQUIRE(!shares.ok());
  CHECK(shares.status().message().find("for all parameters together") !=
        std::string::npos);
}

}  // namespace
}  // namespace mxc::train
