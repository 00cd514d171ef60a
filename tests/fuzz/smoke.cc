// SPDX-License-Identifier: Apache-2.0
// Every target on its seeds and on some thousand damaged ones, the same each
// time: targets stay alive where there is no libFuzzer.
//   fuzz_smoke                        3000 inputs or 250 ms for each target
//   fuzz_smoke SECONDS [TARGET…]      as many as SECONDS allow
// Of processor time, so that it is the same on a busy machine.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <random>

#include "tests/fuzz/damage.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {

#define MXC_FUZZ_TARGET(name, libraries) extern const Target name;
#include "tests/fuzz/targets.def"
#undef MXC_FUZZ_TARGET

namespace {

struct Named {
  const char* name;
  const Target* target;
};

constexpr Named kTargets[] = {
#define MXC_FUZZ_TARGET(name, libraries) {#name, &name},
#include "tests/fuzz/targets.def"
#undef MXC_FUZZ_TARGET
};

// How many inputs were read.
int Smoke(const Target& target, double seconds, int most_inputs) {
  const std::clock_t end =
      std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
  const std::vector<std::string> seeds = target.seeds();
  std::mt19937 random;
  int count = 0;
  for (; count < most_inputs && std::clock() < end; ++count) {
    std::string file = seeds[static_cast<size_t>(count) % seeds.size()];
    if (static_cast<size_t>(count) >= seeds.size()) {
      file = DamagedBytes(target, std::move(file), random);
      file.resize(std::min(file.size(), target.most_bytes));
    }
    target.run(BytesOf(file));
  }
  return count;
}

int Main(int argc, char** argv) {
  const bool is_short = argc < 2;
  const double seconds = is_short ? 0.25 : std::atof(argv[1]);
  const int most_inputs = is_short ? 3000 : std::numeric_limits<int>::max();
  const std::vector<std::string> asked(argv + std::min(argc, 2), argv + argc);
  for (const auto& [name, target] : kTargets) {
    if (!asked.empty() && std::ranges::count(asked, name) == 0) continue;
    fmt::print("{}\n", name);
    std::fflush(stdout);  // who dies is named
    fmt::print("  {} inputs\n", Smoke(*target, seconds, most_inputs));
  }
  return 0;
}

}  // namespace
}  // namespace mxc::fuzz

int main(int argc, char** argv) { return mxc::fuzz::Main(argc, argv); }
