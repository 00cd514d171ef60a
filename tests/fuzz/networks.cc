// SPDX-License-Identifier: Apache-2.0
// A small network as text, compiled in some way, against the interpreter: step
// by step, by several threads, within a budget (tests/random/check.h). The
// first four bytes choose the way, the others decide what is drawn.
#include <fmt/format.h>

#include <filesystem>
#include <random>

#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"
#include "tests/random/check.h"
#include "tests/support/temporary_folder.h"

namespace mxc::fuzz {
namespace {

class Decisions {
 public:
  explicit Decisions(Bytes bytes) : bytes_(bytes) {}

  uint32_t operator()() {
    if (bytes_.empty()) return static_cast<uint32_t>(rest_());
    const auto decision = static_cast<uint32_t>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return decision;
  }

 private:
  Bytes bytes_;
  std::mt19937 rest_;  // once the input has ended
};

void RunNetworks(Bytes input) {
  if (input.size() < 4) return;
  const auto seed = Load<uint32_t>(input, 0);
  const random::Way way = random::DrawWay(seed);
  random::DrawOptions draw;
  draw.trains = way.trains;
  draw.layers = 3;
  draw.size = 1.0 / 64;
  const random::DrawnNetwork network =
      random::DrawNetwork(Decisions(input.subspan(4)), draw);
  static const test::TemporaryFolder folder("networks");
  const std::string wrong =
      random::Check(seed, way, network, folder.path().string());
  if (!wrong.empty()) {
    Wrong(
        fmt::format("{}\n{}\n{}", random::ToString(way), network.text, wrong));
  }
}

std::vector<std::string> NetworksSeeds() {
  std::vector<std::string> seeds;
  for (uint32_t seed = 0; seed < 24; ++seed) {
    std::mt19937 random(seed);
    std::string decisions = Number(seed);
    for (int i = 0; i < 60; ++i) {
      decisions += static_cast<char>(random());
    }
    seeds.push_back(decisions);
  }
  return seeds;
}

}  // namespace

extern const Target networks;
const Target networks = {
    .run = RunNetworks, .seeds = NetworksSeeds, .most_bytes = 128};

}  // namespace mxc::fuzz
