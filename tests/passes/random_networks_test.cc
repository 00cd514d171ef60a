// SPDX-License-Identifier: Apache-2.0
// Random networks through random subsets of the passes: the numbers stay, in
// the interpreter and in one arena.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/passes/arena_machine.h"
#include "tests/passes/blocked_catalog.h"
#include "tests/passes/random_network.h"

namespace mxc {
namespace {

TEST_CASE("random networks keep their numbers under random passes") {
  const BlockedCatalog catalog;
  for (int seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    RandomNetwork random(seed, 12, seed % 2 == 0 ? 1 : 4);
    const Network& net = random.network();
    PassOptions required;
    required.level = 0;
    const auto expected = Run(Compile(net, required), net.inputs);
    PassOptions options;
    if (seed > 20) options.disabled = RandomlyDisabled(random);
    const Program program = Compile(net, options, &catalog);
    CAPTURE(Print(net.Copy()));
    CAPTURE(Print(program));
    CHECK(Distance(Run(program, net.inputs), expected) < 1e-4);
    CHECK(Distance(ArenaMachine(program, net.inputs).Run(), expected) < 1e-4);
    CHECK(static_cast<double>(program.arena_bytes()) <=
          1.02 * static_cast<double>(program.lower_bound_bytes));
  }
}

TEST_CASE("random networks keep their numbers image by image") {
  const BlockedCatalog catalog;
  int loops = 0;
  for (int seed = 0; seed < 24; ++seed) {
    CAPTURE(seed);
    RandomNetwork random(seed, 9, /*block=*/seed % 3 == 0 ? 4 : 1,
                         /*images=*/seed % 2 == 0 ? 8 : 32);
    const Network& net = random.network();
    PassOptions apart;
    apart.disabled = {"tile-and-fuse"};
    const auto expected = Run(Compile(net, apart, &catalog), net.inputs);
    PassOptions options;
    if (seed > 12) options.disabled = RandomlyDisabled(random);
    const Program program = Compile(net, options, &catalog, 1 << 10);
    CAPTURE(Print(net.Copy()));
    CAPTURE(Print(program));
    CHECK(Distance(Run(program, net.inputs), expected) < 1e-4);
    CHECK(Distance(ArenaMachine(program, net.inputs).Run(), expected) < 1e-4);
    loops += static_cast<int>(std::ranges::count_if(
        program.steps, [](const Step& s) { return s.loop() != nullptr; }));
  }
  CHECK(loops > 20);
}

}  // namespace
}  // namespace mxc
